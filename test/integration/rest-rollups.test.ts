import { describe, expect, test } from "vitest";

import type { Rollups } from "../../runtime/api/schemas/history/rollups.ts";
import { presence } from "../../runtime/core/history/rollups/presence.ts";
import type { RollupPoint } from "../../runtime/core/history/rollups/rollup.ts";
import { HistoryGateway } from "../support/history-gateway.ts";

/** The route of rollups, with the history in memory. */
const minute = 60_000;
const start = Math.floor(Date.now() / minute) * minute - 30 * minute;
const span = `since=${new Date(start).toISOString()}&until=${new Date(start + minute).toISOString()}&step=10s`;
const unknown = [null, null, null, null, null];

async function openWithPoints(): Promise<HistoryGateway> {
  const opened = await HistoryGateway.open();
  const point = (namespace: string, name: string, calls: readonly number[]): RollupPoint => ({
    namespace,
    name,
    source: "gateway",
    at: start,
    calls,
  });
  const rollups = [
    point("functions", "hello", [0, 5, 0, 0, 1]),
    point("functions", "pay", [0, 20, 0, 0, 0]),
    point("dev", "pay", [0, 1, 0, 0, 2]),
  ];
  await opened.kept.apply({ changes: [], rollups });
  return opened;
}

function sums({ series }: Rollups) {
  return series.map(({ functionName, namespace, calls, errors }) => [functionName, namespace, calls[0], errors[0]]);
}

describe("rollups", () => {
  test("of functions have a series each, in which null is not known", async () => {
    await using opened = await openWithPoints();
    const rollups = await opened.json<Rollups>(`/system/rollups?function=pay.dev,hello&${span}`);
    expect(rollups).toMatchObject({ step: "10s", from: new Date(start).toISOString() });
    expect(rollups.top).toBeUndefined();
    expect(sums(rollups)).toEqual([
      ["pay", "dev", 3, 2],
      ["hello", "functions", 6, 1],
    ]);
    expect(rollups.series[0]?.calls).toEqual([3, ...unknown]);
    expect(rollups.series[0]?.replicas).toEqual([null, ...unknown]);
  });

  test("of all functions are one series, and those with most calls", async () => {
    await using opened = await openWithPoints();
    const rollups = await opened.json<Rollups>(`/system/rollups?${span}`);
    expect(sums(rollups)).toEqual([[undefined, undefined, 29, 3]]);
    expect(rollups.top?.map(({ functionName, namespace }) => `${functionName}.${namespace}`)).toEqual([
      "pay.functions",
      "hello.functions",
      "pay.dev",
    ]);
    expect(sums(await opened.json<Rollups>(`/system/rollups?namespace=dev&${span}`))).toEqual([
      [undefined, undefined, 3, 2],
    ]);
  });

  test("sum up and name only functions that the sender may see", async () => {
    await using opened = await openWithPoints();
    opened.tokens.allow({ alice: [["Function:Get"], ["functions:*"]], bob: [["Function:Get"], ["prod:*"]] });
    const ofAlice = await opened.json<Rollups>(`/system/rollups?${span}`, opened.tokens.give("alice"));
    expect(sums(ofAlice)).toEqual([[undefined, undefined, 26, 1]]);
    expect(ofAlice.top).toHaveLength(2);
    const ofBob = await opened.json<Rollups>(`/system/rollups?${span}`, opened.tokens.give("bob"));
    expect([sums(ofBob), ofBob.top]).toEqual([[[undefined, undefined, null, null]], []]);
    const [status, text] = await opened.send(
      "GET",
      `/system/rollups?function=hello,pay.dev&${span}`,
      opened.tokens.give("alice"),
    );
    expect([status, text]).toEqual([403, expect.stringContaining("Function:Get on dev:pay")]);
  });

  test.each([
    ["step=7s", 'Cannot read step "7s": expected 10s, 1m, 1h; 10s fits this time'],
    ["step=10s&since=5h", 'Cannot read step "10s": expected 1m, as a response has at most 1000 intervals'],
    [
      `function=${Array.from({ length: 51 }, (_, index) => `f${index}`).join(",")}`,
      "expected at most 50 names, got 51",
    ],
    ["since=2d&until=3d", 'Cannot read until "3d": expected a time after since "2d"'],
  ])("of %s are 400", async (query, sentence) => {
    await using opened = await HistoryGateway.open();
    expect(await opened.platform.refusal("GET", `/system/rollups?${query}`)).toEqual({
      status: 400,
      code: "validation_failed",
      detail: expect.stringContaining(sentence),
    });
  });

  test("of a function that is there and idle are 0 where calls were counted, and null elsewhere", async () => {
    await using opened = await openWithPoints();
    await opened.platform.call("PUT", "/system/functions", { service: "idle", image: "idle:1" });
    const now = Math.floor(Date.now() / 10_000) * 10_000;
    const noCalls = { source: "gateway", calls: [0, 0, 0, 0, 0], coldStarts: 0 };
    const points = [now - 10_000, now, now + 20_000].map((at) => ({ ...presence, ...noCalls, at }));
    await opened.kept.apply({ changes: [], rollups: points });
    const recent = [now - 10_000, now + 30_000].map((at) => new Date(at).toISOString());
    const { series } = await opened.json<Rollups>(
      `/system/rollups?function=idle&since=${recent[0]}&until=${recent[1]}&step=10s`,
    );
    // It was deployed within the second interval, or just after it.
    expect(series[0]?.calls[0]).toBeNull();
    expect(series[0]?.calls.at(-1)).toBe(0);
    expect(series[0]?.errors.at(-1)).toBe(0);
    expect(series[0]?.calls.at(2)).toBeNull();
    const all = await opened.json<Rollups>(`/system/rollups?since=${recent[0]}&until=${recent[1]}&step=10s`);
    expect(all.series[0]?.calls).toEqual([0, 0, null, 0]);
    expect(all.top).toEqual([]);
    const [row] = all.series;
    expect([row?.functionName, row?.namespace]).toEqual([undefined, undefined]);
  });

  test("of a function that is unknown are 404; of one without calls, null", async () => {
    await using opened = await openWithPoints();
    await opened.platform.call("PUT", "/system/functions", { service: "idle", image: "idle:1" });
    const idle = await opened.json<Rollups>(`/system/rollups?function=idle&${span}`);
    expect(sums(idle)).toEqual([["idle", "functions", null, null]]);
    expect(await opened.platform.refusal("GET", `/system/rollups?function=idle,nobody&${span}`)).toMatchObject({
      status: 404,
      code: "function_not_found",
    });
  });
});
