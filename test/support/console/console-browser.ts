import { chromium, type BrowserContext, type Page } from "playwright-core";

import { environment } from "../../../runtime/process/settings.ts";
import { tempDirectory } from "../temp-directory.ts";
import { loadPagesWhole } from "./load-pages.ts";
import { watchFaults, type PageFaults } from "./page-faults.ts";
import { openRecordingProxy } from "./recording-proxy.ts";

export const consoleThemes = ["light", "dark"] as const;
export type ConsoleTheme = (typeof consoleThemes)[number];
/** Widths of pages that are shown and judged, in pixels. */
export const consoleWidths = [360, 1280] as const;

export interface WindowOptions {
  /** Where the console is opened: `http://127.0.0.1:8081`. */
  readonly origin: string;
  /** Origins that pages of this window may ask, too. */
  readonly others?: readonly string[];
  readonly theme?: ConsoleTheme;
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen for one of the page: 4 = zoomed to 400 %. */
  readonly scale?: number;
}

/** The browser of one person, who shares no cookies with others. */
export interface ConsoleWindow extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: PageFaults;
}

/** Chromium as Debian builds it, in which nothing but the tests' pages asks for anything. */
export interface ConsoleBrowser extends AsyncDisposable {
  open(options: WindowOptions): Promise<ConsoleWindow>;
  /** What it asked for beyond this machine: nothing, whoever wanted it. */
  readonly asked: readonly string[];
}

const nowhere = "http://127.0.0.1:9/";

/** Features of the browser that ask their maker for something. */
const askingFeatures = [
  "AutofillServerCommunication",
  "DialMediaRouteProvider",
  "InterestFeedContentSuggestions",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "Translate",
];

const flags = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-extensions",
  "--disable-sync",
  `--component-updater=disable-background-downloader,url-source=${nowhere}`,
  `--disable-features=${askingFeatures.join(",")}`,
  `--gaia-url=${nowhere}`,
  `--variations-server-url=${nowhere}`,
  "--extensions-update-frequency=100000",
];

/** Starts one; `program` is Chromium's. */
export async function openConsoleBrowser(program: string): Promise<ConsoleBrowser> {
  const home = await tempDirectory("browser");
  const proxy = await openRecordingProxy();
  const { path } = home;
  const browser = await chromium
    .launch({
      executablePath: program,
      // Its sandbox refuses to run as root.
      chromiumSandbox: process.getuid?.() !== 0,
      args: flags,
      env: { PATH: environment()["PATH"] ?? "", HOME: path, TMPDIR: path },
      proxy: { server: proxy.url, bypass: "127.0.0.1,localhost" },
      // Whoever runs the tests ends them; the browser ends with its pipe.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    .catch(async (err: unknown) => {
      await proxy[Symbol.asyncDispose]();
      await home.remove();
      throw err;
    });
  return {
    asked: proxy.asked,
    async open({ origin, others = [], theme = "light", width = 1280, height = 900, scale = 1 }) {
      const context = await browser.newContext({
        baseURL: origin,
        colorScheme: theme,
        viewport: { width, height },
        deviceScaleFactor: scale,
        locale: "en-GB",
        timezoneId: "Europe/Berlin",
        permissions: ["clipboard-write"],
      });
      const faults = await watchFaults(context, [origin, ...others]);
      context.on("page", loadPagesWhole);
      const page = await context.newPage();
      return { page, context, faults, [Symbol.asyncDispose]: () => context.close() };
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await proxy[Symbol.asyncDispose]();
      await home.remove();
    },
  };
}
