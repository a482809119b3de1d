import { expect, test } from "vitest";
import { parse } from "yaml";

import { noRoute, openPretendedGateway, type PretendedReply } from "../../../support/pretended-gateway.ts";

/** Each command that prints what a gateway says, in each format, at a gateway whose every text is hostile. */
const hostile = "a\u001B[2J\u001B]0;t\u0007\r\nb\u202Egpj\u2066\u009B31m\u200F\u007F\t";
const unsafe = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const at = "2026-01-31T12:00:00.000Z";

const status = {
  name: hostile,
  namespace: hostile,
  image: hostile,
  envVars: { [hostile]: hostile },
  secrets: [hostile],
  replicas: 1,
  availableReplicas: 1,
  invocationCount: 1,
  createdAt: at,
  generation: 1,
  queue: hostile,
  conditions: [{ type: "Stalled", status: "True", reason: hostile, message: hostile, lastTransitionTime: at }],
};
const queue = {
  name: hostile,
  queued: 1,
  deadLetters: 1,
  oldestAgeSeconds: 2,
  timeout: hostile,
  ackWait: hostile,
  why: hostile,
};
const letter = { callId: id, functionName: hostile, namespace: hostile, reason: hostile, attempts: 1, advice: hostile };
const record = {
  callId: id,
  functionName: hostile,
  namespace: hostile,
  queue: hostile,
  state: "done",
  reason: hostile,
  acceptedAt: at,
  attempts: [{ number: 1, startedAt: at, endedAt: at, error: hostile }],
};
const history = { lagSeconds: 0, complete: true, gaps: [] };
const summary = { ...record, kind: hostile, source: hostile };
const keptId = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f11";
const detail = {
  ...summary,
  callId: keptId,
  attempts: [{ number: 1, startedAt: at, stderrTail: { lines: [hostile], match: hostile } }],
  replays: [hostile],
  replayOf: hostile,
  redrives: 0,
  principal: { subject: hostile, issuer: hostile },
  timeline: [{ at, kind: hostile, worker: hostile, replica: hostile, reason: hostile }],
  request: { kept: false },
  logs: { kept: false },
  history,
};
const info = {
  edition: hostile,
  apiVersion: hostile,
  functionNamespace: hostile,
  provider: { provider: hostile },
  version: { release: hostile },
};

const byPath: Readonly<Record<string, unknown>> = {
  "/system/functions": [status, { ...status, name: `${hostile}2` }],
  "/system/function/hello": status,
  "/system/secrets": [{ name: hostile }, { name: "b" }],
  "/system/namespaces": [hostile, "b"],
  "/system/namespace/dev": { name: hostile, labels: { [hostile]: hostile } },
  "/system/queues": [queue, { ...queue, name: "b", deadLetters: 0 }],
  "/system/queue/default": queue,
  "/system/info": info,
  [`/async-function/${id}`]: record,
  "/system/calls": { items: [summary], total: { value: 1, exact: true }, history },
  [`/system/calls/${keptId}`]: detail,
};

function reply({ target }: { readonly target: string }): PretendedReply {
  const [path = ""] = target.split("?");
  if (path.endsWith("/dead-letters")) return { json: { items: [letter] } };
  if (path === `/system/calls/${id}`) return noRoute;
  return { json: byPath[path] ?? {} };
}

/** Arguments, the value that is printed as a document, and how many names there are. */
const commands: readonly (readonly [readonly string[], unknown, number])[] = [
  [["list"], byPath["/system/functions"], 2],
  [["describe", "hello"], status, 1],
  [["secrets", "list"], byPath["/system/secrets"], 2],
  [["namespaces", "list"], byPath["/system/namespaces"], 2],
  [["namespaces", "show", "dev"], byPath["/system/namespace/dev"], 1],
  [["queues", "list"], byPath["/system/queues"], 2],
  [["queues", "show", "default"], queue, 1],
  [["dead-letters", "list", "--queue", "default"], [letter], 1],
  [["dead-letters", "show", id, "--queue", "default"], [letter], 1],
  [["calls", "show", id], record, 1],
  [["calls", "show", keptId], detail, 1],
  [["calls", "list", "-q"], [summary], 1],
  [["calls", "wait", id], record, 1],
  [["whoami"], expect.objectContaining({ edition: hostile, version: hostile }), 1],
  [["version"], expect.objectContaining({ gateway: expect.objectContaining({ edition: hostile }) }), 1],
];

test.each(commands)("%j", async (args, value, names) => {
  await using gateway = await openPretendedGateway(reply);
  const shown: Record<string, string> = {};
  for (const format of ["table", "json", "yaml", "name"]) {
    const { code, stdout, stderr } = await gateway.run([...args, "-o", format]);
    expect([format, code, stderr]).toEqual([format, 0, ""]);
    expect(stdout).not.toMatch(unsafe);
    expect(stdout).toMatch(/[^\n]\n$/);
    shown[format] = stdout;
  }
  expect(JSON.parse(shown["json"] ?? "")).toEqual(value);
  expect(parse(shown["yaml"] ?? "")).toEqual(value);
  expect(shown["name"]?.trimEnd().split("\n")).toHaveLength(names);
  // A forged row would begin so.
  expect(shown["table"]).not.toMatch(/^b\S*gpj/m);
});

test("the names of --dry-run and of what was deployed are lines, too", async () => {
  await using gateway = await openPretendedGateway(({ method, target }) => {
    if (method === "GET" && target.startsWith("/system/function/")) return { json: status };
    return target === "/system/info" ? { json: info } : { status: 202 };
  });
  const { code, stdout, stderr } = await gateway.run(["deploy", "hello", "--image", "i", "--no-wait", "-o", "name"]);
  expect([code, stdout.split("\n").length]).toEqual([0, 2]);
  expect(stdout + stderr).not.toMatch(unsafe);
});

test("why a function is not ready is as many lines as it has, none of which looks like a line of the command", async () => {
  const [stalled] = status.conditions;
  const conditions = [stalled, { ...stalled, type: "Healthy", status: "False" }];
  await using gateway = await openPretendedGateway(({ method, target }) => {
    if (method === "GET" && target.startsWith("/system/function/")) return { json: { ...status, conditions } };
    if (target.startsWith("/system/logs")) return { bytes: Buffer.from("") };
    return target === "/system/info" ? { json: info } : { status: 202 };
  });
  const { code, stdout, stderr } = await gateway.run(["deploy", "hello", "--image", "i"]);
  expect([code, stdout]).toEqual([1, ""]);
  const [first, ...others] = stderr.trimEnd().split("\n");
  expect(first).toMatch(/^Cannot get function "hello" ready: a/);
  for (const line of others) expect(line).toMatch(/^ {2}/);
  expect(stderr).not.toMatch(unsafe);
});
