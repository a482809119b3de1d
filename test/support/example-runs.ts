import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

import type { WeirProcess } from "./weir-process.ts";

/** How a run of the examples' runner ended. */
export interface ExampleRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const runner = join(root, "scripts/example/main.ts");
const timeout = 80_000;

/** The directory of all examples. */
export const examples = join(root, "examples");

/** What each example shows, under every provider. */
export const shownBy: Readonly<Record<string, readonly RegExp[]>> = {
  bearer: [/^201 Created$/m, /^401 Unauthorized\nSend the right bearer token\.$/m, /^200 OK\nWelcome\.$/m],
  "callback-receiver": [
    /^202 Accepted\nX-Call-Id: \S+$/m,
    /^200 OK\n\{\n {2}"callId": "\S+",\n {2}"functionName": "checksum",$/m,
  ],
  checksum: [/^202 Accepted$/m, /^200 OK\n[0-9a-f]{64} {2}-$/m],
  factors: [
    /^\$ curl -N /m,
    /^200 OK\n# after [\d.]+ s\nid: 1\ndata: \{"number":1001,"factors":\[7,11,13\]\}\n\n# after /m,
    /^# after [\d.]+ s\nid: 6\ndata: \{"number":9007199254740881,"factors":\[9007199254740881\]\}\n\n$/m,
  ],
  manifest: [/^200 OK\n[0-9a-f]{64} {2}index\.html\n/m, /^e3b0c44298fc1c149afbf4c8996fb924\w+ {2}empty$/m],
  markdown: [/^202 Accepted$/m, /^200 OK\n<h1>Release notes<\/h1>$/m],
};

/** `npm run example -- <args>`, without npm. */
export function runExample(...args: readonly string[]): Promise<ExampleRun> {
  return new Promise((resolve) => {
    execFile(process.execPath, [runner, ...args], { cwd: root, timeout }, (err, stdout, stderr) => {
      resolve({ code: err === null ? 0 : typeof err.code === "number" ? err.code : -1, stdout, stderr });
    });
  });
}

/** Runs one example on `weir` and checks what it shows; gives its output. */
export async function showExample(weir: WeirProcess, name: string, flags: readonly string[] = []): Promise<string> {
  const { stdout, ...end } = await runExample(name, "--gateway", weir.url, "--data", weir.data, ...flags);
  expect(end, stdout).toEqual({ code: 0, stderr: "" });
  for (const pattern of shownBy[name] ?? []) expect(stdout).toMatch(pattern);
  const [first = 0, ...later] = arrivals(stdout);
  if (later.length > 0)
    expect(first, "the first event comes before the last one is known").toBeLessThan(later.at(-1) ?? 0);
  expect(stdout).not.toContain(weir.password);
  return stdout;
}

/** The seconds after which the events came that an example shows. */
function arrivals(stdout: string): number[] {
  return [...stdout.matchAll(/^# after ([\d.]+) s$/gm)].map(([, seconds]) => Number(seconds));
}
