import { expect, test } from "vitest";

import {
  noRoute,
  openPretendedGateway,
  problem,
  type PretendedGateway,
  type PretendedReply,
} from "../../../support/pretended-gateway.ts";

const at = "2026-01-31T12:00:00.000Z";
const status = {
  name: "hello",
  namespace: "functions",
  image: "hello",
  labels: {},
  annotations: {},
  replicas: 1,
  availableReplicas: 1,
  invocationCount: 1,
  createdAt: at,
  generation: 1,
  queue: "default",
  conditions: [{ type: "Ready", status: "True", reason: "ReplicasReady", message: "It is", lastTransitionTime: at }],
};
const call = (digit: number, over: object = {}) => ({
  callId: `7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f1${digit}`,
  kind: "async",
  functionName: "hello",
  namespace: "functions",
  state: "done",
  source: "http",
  acceptedAt: at,
  retries: 0,
  ...over,
});
const pageOf = (...items: readonly object[]): PretendedReply => ({
  json: { items, total: { value: items.length, exact: true }, history: { lagSeconds: 0, complete: true, gaps: [] } },
});

/** What `weir describe hello` prints at a gateway whose history replies so. */
async function described(calls: PretendedReply, ...more: readonly string[]) {
  await using gateway: PretendedGateway = await openPretendedGateway(({ target }) =>
    target.startsWith("/system/calls") ? calls : { json: status },
  );
  const end = await gateway.run(["describe", "hello", ...more]);
  return { ...end, asked: gateway.requests.map(({ target }) => target) };
}

test("the last 5 calls are shown below the function, a line each", async () => {
  const failed = call(1, { state: "failed", reason: "exhausted", status: 500, durationSeconds: 0.0124 });
  const { code, stdout, stderr, asked } = await described(pageOf(failed, call(2)));
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n\n")[2]?.split("\n") ?? [];
  const [title, ...rows] = lines.map((line) => line.split(/ {2,}/));
  expect(title).toEqual(["LAST CALLS", "STATE", "STATUS", "TOOK", "AGE"]);
  // Without a status and a duration its age comes next.
  expect(rows).toEqual([
    [failed.callId, "failed: exhausted", "500", "0.012s", expect.stringMatching(/^\d+d$/)],
    [call(2).callId, "done", expect.stringMatching(/^\d+d$/)],
  ]);
  const query = new URLSearchParams(asked[1]?.split("?")[1]);
  expect([query.get("function"), query.get("limit")]).toEqual(["hello.functions", "5"]);
});

test.each([
  ["a gateway without a history", noRoute],
  ["a history that is off", problem(404, "history_off", "Cannot list calls: history is off")],
  ["somebody who may not see calls", problem(403, "forbidden", "Cannot list calls: Call:List is missing")],
  ["a function without calls", pageOf()],
])("of %s there is nothing to show", async (_, reply) => {
  const { code, stdout, stderr } = await described(reply);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.trimEnd().split("\n\n")).toHaveLength(2);
});

test("a history that is away is said so, and the function is shown all the same", async () => {
  const { code, stdout } = await described(problem(503, "history_unavailable", "Cannot read history: no reply"));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^name +hello$/m);
  expect(stdout).toMatch(/\n\nlast calls: not known: Cannot read history: no reply\n$/);
});

test("a document is that of the function alone, and asks for no calls", async () => {
  const { stdout, asked } = await described(pageOf(call(1)), "-o", "json");
  expect(JSON.parse(stdout)).toEqual(status);
  expect(asked.filter((target) => target.startsWith("/system/calls"))).toEqual([]);
});
