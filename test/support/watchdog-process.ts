import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";

import { eventually } from "./eventually.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { livingProcess } from "./process-tree.ts";
import { tempDirectory } from "./temp-directory.ts";

/** PATH of the functions of these tests. */
export const programPath = `${dirname(process.execPath)}:/usr/bin:/bin`;
/** The program under test. */
export const main = fileURLToPath(new URL("../../runtime/watchdog/main.ts", import.meta.url));

export interface Watchdog {
  readonly child: ChildProcess;
  readonly port: number;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** The processes that `endWatchdogsAfterEachTest` ends. */
export const running: ChildProcess[] = [];
let directory: Awaited<ReturnType<typeof tempDirectory>>;

/** Call once in a test file: each test gets a new directory, and what it started is ended after it. */
export function endWatchdogsAfterEachTest(): void {
  beforeEach(async () => {
    directory = await tempDirectory("watchdog");
  });
  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (!isRunningChild(child)) continue;
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    await directory[Symbol.asyncDispose]();
  });
}

/** The directory of the current test, in which its watchdogs run. */
export function testDirectory(): string {
  return directory.path;
}

export async function start(
  environment: Record<string, string>,
  flags: readonly string[] = [],
  place = directory.path,
): Promise<Watchdog> {
  const launched = launch(environment, flags, place);
  const port = await Promise.race([
    launched.report.then((message) => ("port" in message ? message.port : undefined)),
    launched.exited.then((code) => Promise.reject(new Error(`the watchdog ended with ${code}: ${launched.output()}`))),
  ]);
  return { ...launched, port: Number(port) };
}

export function launch(environment: Record<string, string>, flags: readonly string[] = [], place = directory.path) {
  const child = spawn(
    process.execPath,
    [main, "--host", "127.0.0.1", "--port", "0", "--write-timeout", "2s", ...flags],
    {
      cwd: place,
      env: { PATH: programPath },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  running.push(child);
  killAtExit(child, { signal: "SIGTERM" });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const report = new Promise<Record<string, unknown>>((resolve) =>
    // Before the first report of its state it says where the process behind it will listen.
    child.on("message", (message) => "inner" in Object(message) || resolve(Object(message))),
  );
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  child.send({ environment: { PATH: programPath, HOME: place, ...environment } });
  return { child, output: () => output, report, exited };
}

export function open(port: number, path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  const request = sendRequest({
    // A stopping watchdog waits for further requests on kept connections.
    agent: false,
    host: "127.0.0.1",
    port,
    path,
    method: options.method ?? "GET",
    headers: options.headers ?? {},
  });
  const response = once(request, "response").then(([message]): IncomingMessage => message);
  response.catch(() => {});
  // A function may respond without reading the rest of the body, which then cannot be sent.
  request.on("error", () => {});
  return { request, response };
}

export async function call(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  const { request, response } = open(port, path, options);
  request.end(options.body);
  const message = await response;
  return { status: message.statusCode ?? 0, headers: message.headers, body: await text(message) };
}

export const isAlive = (pid: number): boolean => livingProcess(pid) !== undefined;

export async function pidIn(file: string): Promise<number> {
  return await eventually(async () => Number(await readFile(join(directory.path, file), "utf8")), {
    what: `a pid in ${file}`,
  });
}

/** A shell line as `fprocess`: the watchdog never uses a shell by itself. */
export const sh = (line: string): string => `sh -c '${line}'`;
export const js = (code: string): string => `"${process.execPath}" -e '${code}'`;
export const httpFunction = (code: string): string =>
  js(`require("node:http").createServer((request, response) => { ${code} }).listen(process.env.PORT, "127.0.0.1")`);

export async function startHttp(
  code: string,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Watchdog> {
  return startReady({ fprocess: httpFunction(code), mode: "http", ...environment }, flags);
}

/** Resolves when calls reach the process, which begins to listen later than the watchdog. */
export async function startReady(
  environment: Record<string, string>,
  flags: readonly string[] = [],
  place = directory.path,
): Promise<Watchdog> {
  const watchdog = await start(environment, flags, place);
  await eventually(async () => (await call(watchdog.port, "/_/ready")).status === 200, {
    what: "readiness",
  });
  return watchdog;
}

/** Starts a watchdog, as `startHttp` does, that outlives single tests; it runs in a directory of its own. */
export async function openSharedHttp(code: string): Promise<Pick<Watchdog, "port"> & AsyncDisposable> {
  const place = await tempDirectory("watchdog");
  const { child, port, exited } = await startReady({ fprocess: httpFunction(code), mode: "http" }, [], place.path);
  running.splice(running.indexOf(child), 1);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exited;
      await place.remove();
    },
  };
}
