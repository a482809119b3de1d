import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { RollupSeries } from "../../runtime/core/history/rollups/rollup.ts";
import type { CallRow } from "../../runtime/core/history/history-row.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { handProvider, type HandProvider } from "../support/hand-provider.ts";
import { historyProcess, type TestHistory } from "../support/history-process.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const namespace = "functions";
const interval = 10_000;

let directory: TempDirectory;
let platform: Platform;
let provider: HandProvider;
let history: TestHistory;
let fn: FunctionServer;

const addresses = (): { readonly addresses: readonly string[] } => ({ addresses: [fn.address] });

beforeAll(async () => {
  directory = await tempDirectory("history");
  platform = await openPlatform({ gatewayFlags: ["--history-sync-sample=0"] });
  history = await historyProcess({ directory: directory.path, server: platform.server });
  await history.process.start();
  await eventually(async () => (await history.metric("history_leader")) === 1, {
    what: "the history to be the leader",
  });
  fn = await openFunctionServer((request, response) => {
    response.writeHead(request.url?.startsWith("/fail") === true ? 500 : 200).end();
  });
  provider = await handProvider(platform);

  await platform.deploy("pay", addresses());
  await platform.deploy("each", { ...addresses(), annotations: { "com.service.history.sync": "all" } });
  await platform.deploy("none", { ...addresses(), annotations: { "com.service.history.sync": "none" } });
  for (const name of ["asleep", "later", "flood", "last"]) await platform.deploy(name, addresses());
  await call("pay", 7);
  await call("pay/fail", 2);
  await call("none/fail", 5);
  await call("each", 60);
  await provider.sleep("asleep", (tell) => tell([fn.address]));
  await call("asleep");
  for (let made = 0; made < 3; made += 1) await platform.calls.accepted("later");
});

afterAll(async () => {
  await provider?.close();
  await history?.process.kill();
  await history?.reads.close();
  await platform?.close();
  await fn?.close();
  await directory?.remove();
});

async function call(target: string, count = 1): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => platform.calls.send("POST", `/function/${target}`)));
}

/** What the history knows of a function, once that is so; of the last hour. */
async function seriesOf(name: string, isSo: (series: RollupSeries) => boolean): Promise<RollupSeries> {
  return eventually(
    async () => {
      const until = Math.ceil(Date.now() / interval) * interval + interval;
      const query = { functions: [{ namespace, name }], step: "10s", since: until - 3_600_000, until } as const;
      const [series] = await history.reads.rollups(query);
      return series !== undefined && isSo(series) ? series : undefined;
    },
    { what: `the rollup of ${name}`, every: 100 },
  );
}

const known = (column: readonly (number | null)[]): readonly number[] => column.filter((value) => value !== null);
const sum = (column: readonly (number | null)[]): number => known(column).reduce((total, value) => total + value, 0);

/** Its synchronous calls in the history, oldest first. */
async function syncCallsOf(name: string): Promise<readonly CallRow[]> {
  const { rows } = await history.reads.list({ filter: { function: { namespace, name }, kind: "sync" }, limit: 500 });
  return rows.toReversed();
}

describe("what gateway and queue-worker say to the history", () => {
  test("failed calls have rows, of functions that say so each call, or none", async () => {
    const each = await eventually(
      async () => {
        const rows = await syncCallsOf("each");
        return rows.length === 60 ? rows : undefined;
      },
      { what: "60 rows" },
    );
    expect(new Set(each.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await syncCallsOf("none")).toEqual([]);
    const rows = await syncCallsOf("pay");
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ kind: "sync", state: "failed", status: 500, queue: "", coldStart: null });
    const found = await history.reads.get(rows[0]?.id ?? "");
    expect(found?.details.sync).toMatchObject({ method: "POST", status: 500, replica: fn.address });
    expect(JSON.stringify(found)).not.toContain("/fail");
    expect(await platform.metric(platform.gateway, "gateway_history_skipped_total")).toBe(0);
  });

  test("calls through a gateway arrive as rollups", async () => {
    const series = await seriesOf("pay", ({ calls }) => sum(calls) === 9);
    expect(sum(series.errors)).toBe(2);
    expect(sum(series.coldStarts)).toBe(0);
    expect(known(series.inFlight).at(-1)).toBe(0);
    expect(known(series.replicas).at(-1)).toBe(1);
    expect(known(series.p95).every((duration) => duration > 0 && duration < 30_000)).toBe(true);
    await seriesOf("none", ({ calls }) => sum(calls) === 5);
  });

  test("a cold start is counted, has a row, and comes with its scalings", async () => {
    const counted = ({ coldStarts, scalings }: RollupSeries) => sum(coldStarts) === 1 && scalings.length === 2;
    const { scalings } = await seriesOf("asleep", counted);
    expect(scalings.map(({ from, to, reason }) => [from, to, reason])).toEqual([
      [1, 0, "Requested"],
      [0, 1, "Woken"],
    ]);
    const [row] = await syncCallsOf("asleep");
    expect(row).toMatchObject({ state: "done", status: 200 });
    expect(row?.coldStart).toBeGreaterThanOrEqual(0);
  });

  test("queued runs are counted where they run, once, and have no row of a synchronous call", async () => {
    const { replicas } = await seriesOf("later", ({ calls }) => sum(calls) === 3);
    expect(known(replicas).at(-1)).toBe(1);
    expect(await syncCallsOf("later")).toEqual([]);
  });

  test("failed calls that there is no room for are skipped and counted", async () => {
    await call("flood/fail", 300);
    const skipped = () => platform.metric(platform.gateway, "gateway_history_skipped_total");
    await eventually(async () => (await syncCallsOf("flood")).length === 300 - (await skipped()), {
      what: "the rows of those that were not skipped",
    });
    expect(await skipped()).toBeGreaterThan(0);
  });

  test("a gateway and a queue-worker that stop report what they have counted since", async () => {
    await call("last/fail", 3);
    await platform.calls.ended(await platform.calls.accepted("last"));
    await Promise.all([platform.gateway.stop(), platform.worker.stop()]);
    await seriesOf("last", ({ calls }) => sum(calls) === 4);
    await seriesOf("flood", ({ calls }) => sum(calls) === 300);
    await eventually(async () => (await syncCallsOf("last")).length === 3, { what: "the last rows" });
  });
});
