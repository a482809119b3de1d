import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { freePort } from "../free-port.ts";
import { chromiumProgram } from "../headless-browser.ts";
import { say } from "../say.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "./console-browser.ts";
import { openConsoleFront, type ConsoleFront } from "./console-front.ts";
import { openConsoleWeir, type ConsoleWeir } from "./console-weir.ts";
import { expectNoFaults } from "./page-faults.ts";
import { keepShot } from "./page-shots.ts";
import { signIn } from "./sign-in.ts";

export interface ConsoleTestOptions {
  readonly flags?: readonly string[];
  /** Makes what pages are to show, before the first one is opened. */
  readonly prepare?: (weir: ConsoleWeir) => Promise<unknown>;
  /** Whether the administrator has signed in; by default so. */
  readonly isSignedIn?: boolean;
}

/** A Weir, a browser, and a page of its console. */
export interface OpenedConsole extends AsyncDisposable {
  readonly weir: ConsoleWeir;
  readonly browser: ConsoleBrowser;
  readonly window: ConsoleWindow;
  readonly page: Page;
}

/** One whose pages come through a proxy of the test. */
export interface FrontedConsole extends OpenedConsole {
  readonly front: ConsoleFront;
}

/**
 * Makes a suite of tests with one Weir, one browser and one page, which is skipped aloud without Chromium. The last test
 * is that no page of the window broke its rules. `opened` may be called in hooks and tests.
 */
export function describeConsole(
  title: string,
  options: ConsoleTestOptions,
  tests: (opened: () => OpenedConsole) => void,
): void {
  describeOpened(title, (program) => openConsole(program, options), tests);
}

/** The same behind a proxy, whose rules end with each test. */
export function describeFrontedConsole(
  title: string,
  options: ConsoleTestOptions,
  tests: (opened: () => FrontedConsole) => void,
): void {
  describeOpened(
    title,
    (program) => openFrontedConsole(program, options),
    (opened) => {
      afterEach(() => opened().front.restore());
      tests(opened);
    },
  );
}

function describeOpened<Opened extends OpenedConsole>(
  title: string,
  open: (program: string) => Promise<Opened>,
  tests: (opened: () => Opened) => void,
): void {
  const program = chromiumProgram(say);
  describe.skipIf(program === undefined)(title, () => {
    let parts: Opened | undefined;
    const opened = (): Opened => {
      if (parts === undefined) throw new Error("Cannot use the console: it is not open");
      return parts;
    };
    beforeAll(async () => {
      parts = await open(program ?? "");
    });
    afterAll(() => parts?.[Symbol.asyncDispose]());
    beforeEach(({ onTestFailed, task }) => {
      onTestFailed(() => keepShot(opened().page, `failed ${title} ${task.name}`.replaceAll(/[^a-z0-9]+/gi, "-")));
    });
    tests(opened);
    test("broke no rule, and asked no other host for anything", () => {
      const { browser, window } = opened();
      expectNoFaults(window.faults);
      expect(browser.asked).toEqual([]);
    });
  });
}

async function openConsole(program: string, options: ConsoleTestOptions): Promise<OpenedConsole> {
  await using parts = new AsyncDisposableStack();
  const weir = parts.use(await openConsoleWeir({ flags: options.flags ?? [] }));
  const shown = await openFirstPage(parts, { program, origin: weir.origin, weir, options });
  const all = parts.move();
  return { ...shown, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function openFrontedConsole(program: string, options: ConsoleTestOptions): Promise<FrontedConsole> {
  await using parts = new AsyncDisposableStack();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const weir = parts.use(await openConsoleWeir({ flags: options.flags ?? [], origins: [origin] }));
  const front = parts.use(await openConsoleFront(port, weir.origin));
  const shown = await openFirstPage(parts, { program, origin, weir, options });
  const all = parts.move();
  return { ...shown, front, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

interface FirstPage {
  readonly program: string;
  readonly origin: string;
  readonly weir: ConsoleWeir;
  readonly options: ConsoleTestOptions;
}

async function openFirstPage(parts: AsyncDisposableStack, { program, origin, weir, options }: FirstPage) {
  const browser = parts.use(await openConsoleBrowser(program));
  await options.prepare?.(weir);
  const window = parts.use(await browser.open({ origin }));
  const { page } = window;
  if (options.isSignedIn !== false) await signIn(page, weir.weir);
  return { weir, browser, window, page };
}
