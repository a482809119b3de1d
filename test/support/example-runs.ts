import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

import type { WeirProcess } from "./weir-process.ts";

/** How a run of the example runner ended. */
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

/** The numbers of `factors/numbers.txt` with their prime factors. */
const factored: readonly (readonly [number: number, ...factors: readonly number[]])[] = [
  [1_001, 7, 11, 13],
  [4_294_967_297, 641, 6_700_417],
  [67_280_421_310_721, 67_280_421_310_721],
  [1_125_899_906_842_597, 1_125_899_906_842_597],
  [4_503_599_627_370_449, 4_503_599_627_370_449],
  [9_007_199_254_740_881, 9_007_199_254_740_881],
];

/** SHA-256 of the bodies that the examples send, and what the orders of a day come to. */
const sums = {
  orders: '{"day":"2026-03-14","orders":3,"total":"156.30"}',
  world: "dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f",
  hello: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  sonnet: "6d0fdf43d0850505f62313d67610a974419b41b524c0e4f909b8bf7d0b656aea",
  files: [
    "0da38f1f4d1b820fbd5d079d31d84e4f379f2653db4d55365b6ae742e948d2ac  index.html",
    "38d481dc9a3635e91cd563c0f385542abab4c52a7203b0149354d0805e86ba4c  style.css",
    "efc4db5408347a17597d7618522f084512d5d8d9ff46135129e293e4dee3355a  robots.txt",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty",
  ],
};

/** What each example prints, under every provider. */
export const shownBy: Readonly<Record<string, readonly RegExp[]>> = {
  bearer: [/^201 Created$/m, /^401 Unauthorized\nSend the right bearer token\.$/m, /^200 OK\nWelcome\.$/m],
  "callback-receiver": [
    /^202 Accepted\nX-Call-Id: \S+$/m,
    /^200 OK\n\{\n {2}"callId": "\S+",\n {2}"functionName": "checksum",\n {2}"status": 200,$/m,
    new RegExp(`^ {2}"body": "${sums.hello} {2}-\\\\n"\n\\}$`, "m"),
  ],
  checksum: [/^202 Accepted$/m, new RegExp(`^200 OK\n${sums.sonnet} {2}-$`, "m")],
  countdown: [
    /^\$ curl -N /m,
    /^# after [\d.]+ s\nretry: 1000\nid: 2\nevent: tick\ndata: 3\n\n/m,
    /^# after [\d.]+ s\nid: 5\nevent: end\ndata: 0\n\n/m,
    /^204 No Content$/m,
  ],
  factors: [/^\$ curl -N /m, /^200 OK\n# after /m, ...factored.map(eventOf)],
  inventory: [
    /^201 Created\n\{"name":"lamp","count":3\}$/m,
    /^400 Bad Request\n.*"body\/count must be >= 0"\}$/m,
    /^200 OK\n\{"lamp":\{"count":3\}\}$/m,
    /^404 Not Found\n\{"error":"There is no item \\"desk\\""\}$/m,
  ],
  manifest: [new RegExp(`^200 OK\n${sums.files.join("\n")}$`, "m")],
  markdown: [
    /^202 Accepted$/m,
    /^200 OK\n<h1>Release notes<\/h1>\n<p>The <strong>0\.1\.0<\/strong> release /m,
    /^<td>202<\/td>$/m,
  ],
  "nightly-totals": [
    /^202 Accepted\nX-Call-Id: \S+$/m,
    /^ {2}"functionName": "nightly-totals",\n {2}"status": 200,$/m,
    new RegExp(`^ {2}"body": ${RegExp.escape(JSON.stringify(`${sums.orders}\n`))}$`, "m"),
  ],
  "sales-report": [
    /^202 Accepted\nX-Call-Id: \S+$/m,
    /^ {2}"functionName": "sales-report",\n {2}"status": 200,$/m,
    /^ {2}"retries": 1,$/m,
    /^ {2}"body": "\{\\n {2}\\"total\\": \\"646\.00\\",/m,
  ],
  "signed-webhook": [
    /^201 Created$/m,
    /^401 Unauthorized\nThe signature is not that of this body\.$/m,
    /^202 Accepted\nX-Call-Id: \S+\n\{"queued":"5f9ad37b-3c0e-4b8f-9d0e-0d4f4f1c7a21"\}$/m,
    /^200 OK\n\{.*"state":"done".*\}$/m,
    new RegExp(`^200 OK\n${sums.world} {2}-$`, "m"),
  ],
};

function eventOf([number, ...factors]: (typeof factored)[number], index: number): RegExp {
  const data = RegExp.escape(JSON.stringify({ number, factors }));
  return new RegExp(`^# after [\\d.]+ s\nid: ${index + 1}\ndata: ${data}\n\n`, "m");
}

/** `npm run example -- <args>`, without npm. */
export function runExample(...args: readonly string[]): Promise<ExampleRun> {
  return new Promise((resolve) => {
    execFile(process.execPath, [runner, ...args], { cwd: root, timeout }, (err, stdout, stderr) => {
      resolve({ code: err === null ? 0 : typeof err.code === "number" ? err.code : -1, stdout, stderr });
    });
  });
}

/** Runs one example on `weir`, checks what it prints, and returns its output. */
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

/** Arrival times of the events that an example prints, seconds. */
function arrivals(stdout: string): number[] {
  return [...stdout.matchAll(/^# after ([\d.]+) s$/gm)].map(([, seconds]) => Number(seconds));
}
