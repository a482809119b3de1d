import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import { installedTool } from "../../scripts/debian-tool.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { BrowserPage } from "./headless-browser-page.ts";
import { DevTools } from "./headless-browser-devtools.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Chromium without a window, with a profile of its own. */
export interface HeadlessBrowser extends AsyncDisposable {
  /** A new page of a person whom nobody knows yet: it shares no cookies with others. */
  newPage(): Promise<BrowserPage>;
}

/** Chromium's program, or undefined, which is reported; as root on Debian a missing one is installed. */
export function chromiumProgram(say: (line: string) => void): string | undefined {
  const found = installedTool("chromium", "chromium", say);
  if (found === undefined) say("Skipped: tests with Chromium; it is not available (Debian: apt-get install chromium)");
  return found;
}

/**
 * Starts one that is driven by the Chrome DevTools Protocol on a pipe; it ends with the pipe.
 * @throws Error with its output when it does not start
 */
export async function openHeadlessBrowser(program: string): Promise<HeadlessBrowser> {
  const home = await tempDirectory("chromium");
  const flags = [
    "--headless=new",
    "--remote-debugging-pipe",
    `--user-data-dir=${home.path}/profile`,
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    // Its sandbox refuses to run as root.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    "about:blank",
  ];
  const child = spawn(program, flags, {
    cwd: home.path,
    env: { PATH: environment()["PATH"], HOME: home.path, TMPDIR: home.path },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    detached: true,
  });
  killAtExit(child, { group: true });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [, , , requests, replies] = child.stdio;
  const tools = new DevTools(requests as Writable, replies as Readable);
  child.once("exit", () => tools.end(`the browser ended\n${errors}`));
  child.once("error", (err) => tools.end(err.message));
  const close = async (): Promise<void> => {
    await tools.send("Browser.close").catch(() => child.kill("SIGKILL"));
    await eventually(() => !isRunningChild(child), { what: "the browser to end" });
    await home.remove();
  };
  try {
    await tools.send("Browser.getVersion");
  } catch (err) {
    await close();
    throw err;
  }
  return {
    newPage: () => BrowserPage.open(tools),
    [Symbol.asyncDispose]: close,
  };
}
