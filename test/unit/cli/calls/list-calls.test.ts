import { describe, expect, test } from "vitest";

import type { CallPageView } from "../../../../runtime/api/schemas/history/call-page.ts";
import type { CallSummary } from "../../../../runtime/api/schemas/history/call-summary.ts";
import { openPretendedGateway } from "../../../support/pretended-gateway.ts";

const idOf = (number: number): string => `7f3c1d52-5c0e-4d7b-9a53-${String(number).padStart(12, "0")}`;
const summary = (number: number, more: Partial<CallSummary> = {}): CallSummary => ({
  callId: idOf(number),
  kind: "async",
  functionName: "hello",
  namespace: "functions",
  queue: "default",
  state: "done",
  source: "http",
  acceptedAt: new Date(Date.now() - 65_000).toISOString(),
  retries: 0,
  ...more,
});
const page = (items: readonly CallSummary[], more: Partial<CallPageView> = {}): CallPageView => ({
  items: [...items],
  total: { value: items.length, exact: true },
  history: { lagSeconds: 0.1, complete: true, gaps: [] },
  ...more,
});

/** The parameters of each request for a page. */
function queriesOf({ requests }: { readonly requests: readonly { readonly target: string }[] }) {
  return requests.map(({ target }) => {
    const [path, query] = target.split("?");
    expect(path).toBe("/system/calls");
    return Object.fromEntries(new URLSearchParams(query));
  });
}

describe("weir calls list", () => {
  test("has a row for each call, and says how many there are", async () => {
    const failed = summary(2, {
      state: "failed",
      reason: "exhausted",
      status: 503,
      retries: 10,
      durationSeconds: 0.0123,
    });
    await using gateway = await openPretendedGateway(() => ({ json: page([failed, summary(1)]) }));
    const { code, stdout, stderr } = await gateway.run(["calls", "list"]);
    expect([code, stderr]).toEqual([0, "2 calls\n"]);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^CALL +FUNCTION +STATE +STATUS +RETRIES +TOOK +AGE$/);
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^${idOf(2)} +hello\\.functions +failed: exhausted +503 +10 +0\\.012s +1m$`)),
      expect.stringMatching(new RegExp(`^${idOf(1)} +hello\\.functions +done +0 +1m$`)),
    ]);
    expect(queriesOf(gateway)).toEqual([{ limit: "50" }]);
  });

  test.each([
    [{ value: 50, exact: false }, "1 of ~50 calls"],
    [{ value: 7, exact: true }, "1 of 7 calls"],
    [{ value: 1, exact: true }, "1 call"],
  ])("of a total of %j says %s", async (total, sentence) => {
    await using gateway = await openPretendedGateway(() => ({ json: page([summary(1)], { total }) }));
    expect((await gateway.run(["calls", "list"])).stderr).toBe(`${sentence}\n`);
    expect((await gateway.run(["calls", "list", "-q"])).stderr).toBe("");
  });

  test("passes on what the list is narrowed to; durations become times", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: page([]) }));
    const from = Date.now();
    const line =
      "calls list --function hello.dev --queue default --kind async --state failed,waiting --status 404,5xx " +
      "--reason exhausted --id 7f3c --since 10m --until 2026-01-31T12:00:00Z --limit 3";
    const { code } = await gateway.run(line.split(" "));
    expect(code).toBe(0);
    const [query] = queriesOf(gateway);
    expect(query).toEqual({
      function: "hello.dev",
      queue: "default",
      kind: "async",
      state: "failed,waiting",
      status: "404,5xx",
      reason: "exhausted",
      id: "7f3c",
      since: expect.any(String),
      until: "2026-01-31T12:00:00Z",
      limit: "3",
    });
    const since = Date.parse(query?.["since"] ?? "");
    expect(since).toBeGreaterThanOrEqual(from - 600_000);
    expect(since).toBeLessThanOrEqual(Date.now() - 600_000);
  });

  test.each([
    [["--function", "hello", "-n", "dev"], { function: "hello.dev" }],
    [["--function", "hello"], { function: "hello" }],
    [["-n", "dev"], { namespace: "dev" }],
  ])("%j means %j", async (args, expected) => {
    await using gateway = await openPretendedGateway(() => ({ json: page([]) }));
    await gateway.run(["calls", "list", ...args]);
    expect(queriesOf(gateway)).toEqual([{ ...expected, limit: "50" }]);
  });

  test.each([
    ["--limit", "0"],
    ["--limit", "many"],
    ["--function", "He!"],
    ["--kind", "slow"],
  ])("%s %s is a mistake on the command line, and nothing is sent", async (...args) => {
    await using gateway = await openPretendedGateway(() => ({ json: page([]) }));
    expect(await gateway.run(["calls", "list", ...args])).toMatchObject({ code: 2, stdout: "" });
    expect(gateway.requests).toEqual([]);
  });
});

describe("pages", () => {
  /** A gateway with 1 203 calls, whose pages may be shorter than was asked for. */
  const replying = ({ target }: { readonly target: string }) => {
    const query = new URLSearchParams(target.split("?")[1]);
    const start = Number(query.get("after") ?? 0);
    const end = Math.min(start + Math.min(Number(query.get("limit")), 400), 1_203);
    const items = Array.from({ length: end - start }, (_, index) => summary(start + index));
    const next = end < 1_203 ? { next: String(end) } : {};
    return { json: page(items, { total: { value: 1_203, exact: true }, ...next }) };
  };

  test("are read until there are enough calls", async () => {
    await using gateway = await openPretendedGateway(replying);
    const { stdout, stderr } = await gateway.run(["calls", "list", "--limit", "1000", "-o", "name"]);
    expect(stdout.trimEnd().split("\n")).toEqual(Array.from({ length: 1_000 }, (_, number) => idOf(number)));
    expect(stderr).toBe("1000 of 1203 calls\n");
    expect(queriesOf(gateway)).toEqual([
      { limit: "500" },
      { limit: "500", after: "400" },
      { limit: "200", after: "800" },
    ]);
  });

  test("are read to the last with --all, as one document", async () => {
    await using gateway = await openPretendedGateway(replying);
    const { stdout, stderr } = await gateway.run(["calls", "list", "--all", "-o", "json"]);
    const list: readonly CallSummary[] = JSON.parse(stdout);
    expect(list.map(({ callId }) => callId)).toEqual(Array.from({ length: 1_203 }, (_, number) => idOf(number)));
    expect(stderr).toBe("1203 calls\n");
  });

  test("without calls that have a next one are no end", async () => {
    await using gateway = await openPretendedGateway(({ target }) =>
      target.includes("after=") ? { json: page([summary(1)]) } : { json: page([], { next: "x" }) },
    );
    expect((await gateway.run(["calls", "list", "-o", "name"])).stdout).toBe(`${idOf(1)}\n`);
  });
});

test("a history that is behind, or has a gap, is a warning, once for all pages", async () => {
  const gap = { from: "2026-01-31T12:00:00.000Z", to: "2026-01-31T12:10:00.000Z" };
  const history = { lagSeconds: 41.6, complete: false, gaps: [gap] };
  await using gateway = await openPretendedGateway(({ target }) => ({
    json: page([summary(1)], { history, ...(target.includes("after=") ? {} : { next: "x" }) }),
  }));
  const { code, stderr } = await gateway.run(["calls", "list", "-q"]);
  expect(code).toBe(0);
  expect(stderr.split("\n")).toEqual([
    "The history of calls is not up to date: it is 42 s behind",
    expect.stringMatching(
      /^The history has a gap: calls that changed from \d{4}-\S+ \S+ to \d{4}-\S+ \S+ may be missing/,
    ),
    "",
  ]);
});
