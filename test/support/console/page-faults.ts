import { expect } from "vitest";
import type { BrowserContext, Page } from "playwright-core";

/** What pages of the console must never do, as it was seen. */
export interface PageFaults {
  /** Reports of Content-Security-Policy and Trusted Types. */
  readonly violations: string[];
  /** Errors that pages wrote to their consoles. */
  readonly errors: string[];
  /** Requests to other origins than the console's. */
  readonly strangers: string[];
  /** Exceptions and rejections that nobody handled. */
  readonly uncaught: string[];
}

/** The browser's own line about each reply that is no 2xx: bad states are made on purpose. */
const ofReply = /^Failed to load resource: /;

/** Notes the faults of all pages of a context, whose console is at one of `origins`. */
export async function watchFaults(context: BrowserContext, origins: readonly string[]): Promise<PageFaults> {
  const faults: PageFaults = { violations: [], errors: [], strangers: [], uncaught: [] };
  await context.exposeBinding("weirViolation", (_source, text: string) => faults.violations.push(text));
  await context.addInitScript(reportViolations);
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "blob:" && !origins.includes(origin)) faults.strangers.push(request.url());
  });
  const watch = (page: Page): void => {
    page.on("console", (message) => {
      if (message.type() === "error" && !ofReply.test(message.text())) faults.errors.push(message.text());
    });
    page.on("pageerror", (err) => faults.uncaught.push(err.stack ?? String(err)));
  };
  context.on("page", watch);
  return faults;
}

export function expectNoFaults(faults: PageFaults): void {
  expect(faults).toEqual({ violations: [], errors: [], strangers: [], uncaught: [] });
}

/** Runs in each page. */
function reportViolations(): void {
  const page = globalThis as unknown as {
    weirViolation(text: string): void;
    addEventListener(
      type: "securitypolicyviolation",
      hear: (event: Readonly<Record<"violatedDirective" | "blockedURI" | "sourceFile" | "sample", string>>) => void,
    ): void;
  };
  page.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, sample }) =>
    page.weirViolation(`${violatedDirective} ${blockedURI} ${sourceFile} ${sample}`),
  );
}
