import { expect, test } from "vitest";
import { Pool } from "undici";

import type { RollupSeries } from "../../runtime/core/history/rollups/rollup.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { historyProcess } from "../support/history-process.ts";
import { openPlatform } from "../support/platform.ts";
import { say } from "../support/say.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const namespace = "functions";
const interval = 10_000;
const calls = 100_000;
const inFlight = 64;
/** Calls that a gateway keeps a second of functions that do not ask for each. */
const keptPerSecond = 50;
/** Milliseconds between two calls of the function that keeps each. */
const eachEvery = 50;
/** Bytes that a gateway may hold more: its caches are not all filled before. */
const moreMemory = 8 * 1_048_576;

test("FH7 more failing calls than are kept: those left out are counted, rollups have all, and other functions' calls are kept", async () => {
  await using directory = await tempDirectory("history-overrun");
  await using platform = await openPlatform({ gatewayFlags: ["--history-sync-sample=0"] });
  await using opened = new AsyncDisposableStack();
  const fn = await openFunctionServer((request, response) => {
    response.writeHead(request.url?.startsWith("/fail") === true ? 500 : 200).end();
  });
  opened.defer(() => fn.close());
  const { process, reads, metric } = await historyProcess({ directory: directory.path, server: platform.server });
  opened.defer(() => process.kill());
  opened.defer(() => reads.close());
  await process.start();
  await eventually(async () => (await metric("history_leader")) === 1, { what: "the history to be the leader" });
  const addresses = [fn.address];
  await platform.deploy("flood", { addresses });
  await platform.deploy("each", { addresses, annotations: { "com.service.history.sync": "all" } });
  const pool = new Pool(platform.url, { connections: inFlight + 1 });
  opened.defer(() => pool.destroy());
  const call = async (path: string): Promise<number> => {
    const reply = await pool.request({ method: "POST", path: `/function/${path}` });
    await reply.body.dump();
    return reply.statusCode;
  };
  await Promise.all(Array.from({ length: 100 }, () => call("flood")));
  const before = await platform.gateway.measure();

  const begun = performance.now();
  let left = calls;
  const send = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      expect(await call("flood/fail")).toBe(500);
    }
  };
  let each = 0;
  const sendEach = async (): Promise<void> => {
    while (left > 0) {
      expect(await call("each")).toBe(200);
      each += 1;
      const due = begun + each * eachEvery;
      await eventually(() => performance.now() >= due || left <= 0, { every: 5, what: "the next call" });
    }
  };
  await Promise.all([...Array.from({ length: inFlight }, send), sendEach()]);
  const seconds = (performance.now() - begun) / 1_000;

  const rowsOf = async (name: string): Promise<number> =>
    (await reads.list({ filter: { function: { namespace, name }, kind: "sync" }, limit: 1 })).total.value;
  const skipped = () => platform.metric(platform.gateway, "gateway_history_skipped_total");
  await eventually(async () => (await rowsOf("flood")) + (await skipped()) === calls, {
    what: "each failed call to have a row or be counted",
  });
  await eventually(async () => (await rowsOf("each")) === each, { what: "all rows of the other function" });
  say(`FH7: ${Math.round(calls / seconds)} failing calls/s, ${await skipped()} of ${calls} left out`);
  expect(await rowsOf("flood")).toBeLessThanOrEqual(keptPerSecond * (seconds + 2));
  const sum = (column: readonly (number | null)[]): number =>
    column.reduce<number>((total, value) => total + (value ?? 0), 0);
  const series = async (): Promise<RollupSeries | undefined> => {
    const until = Math.ceil(Date.now() / interval) * interval + interval;
    const query = { functions: [{ namespace, name: "flood" }], step: "10s", since: until - 3_600_000, until } as const;
    return (await reads.rollups(query))[0];
  };
  const counted = await eventually(
    async () => {
      const found = await series();
      return found !== undefined && sum(found.calls) >= calls + 100 ? found : undefined;
    },
    { what: "the rollups to have all calls", every: 250 },
  );
  expect([sum(counted.calls), sum(counted.errors)]).toEqual([calls + 100, calls]);
  const after = await platform.gateway.measure();
  expect(after.memory).toBeLessThan(before.memory + moreMemory);
  expect(process.mishaps).toEqual([]);
}, 600_000);
