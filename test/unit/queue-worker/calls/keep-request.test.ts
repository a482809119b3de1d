import { Registry } from "prom-client";
import { afterEach, describe, expect, test } from "vitest";

import type { QueuedCall } from "../../../../runtime/core/calls/call.ts";
import { cancelCall } from "../../../../runtime/core/calls/cancel-call.ts";
import type { SafeRequest } from "../../../../runtime/core/ports/kept-requests.ts";
import { buildWorkerMetrics } from "../../../../runtime/queue-worker/worker-metrics.ts";
import { plain, sampleCall } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { answered, hang, WorkerBench, type BenchOptions } from "../../../support/worker-bench.ts";

const hour = 3_600_000;
const forAnHour = { "com.service.history.bodies": "1h" };
let bench: WorkerBench;
const open = (options: BenchOptions = {}): WorkerBench => {
  bench = new WorkerBench(options);
  return bench;
};
afterEach(() => bench.close());

const found = (id: string) => bench.requests.find(sampleCall().function, id);

/** A keeper that only notes what it is given. */
function notingKeeper(stores: boolean) {
  const given: (readonly [request: SafeRequest, ttl: number])[] = [];
  return {
    given,
    put: async (request: SafeRequest, ttl: number) => {
      given.push([request, ttl]);
      return stores;
    },
  };
}

describe("the request of a call that has ended", () => {
  test("is kept for as long as its function says, whole but for credentials and who sent it", async () => {
    open({ annotations: forAnHour }).start();
    const headers = ["Content-Type", "text/plain", "X-Word", "na\u00efve"];
    const secrets = ["Authorization", "Basic x", "Cookie", "a=1", "X-Api-Key", "k", "x-api-key", "l"];
    const sender = [
      "X-Auth-Subject",
      "alice",
      "X-Auth-Issuer",
      "i",
      "X-Auth-Claims",
      "c",
      "X-Forwarded-For",
      "10.0.0.1",
    ];
    const call: Partial<QueuedCall> = { callbackUrl: "https://example.com/done?k=v", depth: 2 };
    const id = await bench.accept({ ...call, headers: [...secrets, ...headers, ...sender] });
    await bench.until(id, "done");
    const kept = await found(id);
    const { start } = kept?.call ?? sampleCall();
    expect(kept && plain(kept.call)).toEqual(plain(sampleCall({ ...call, id, start, headers })));
    expect(kept?.redacted).toEqual(["authorization", "cookie", "x-api-key"]);
    expect(Math.abs((kept?.expiresAt ?? 0) - Date.now() - hour)).toBeLessThan(30_000);
  });

  test.each([["exhausted", 503] as const, ["rejected", 400] as const])("is kept if it %s", async (reason, status) => {
    open({ annotations: forAnHour, attempts: 1 }).answer = () => answered(status);
    bench.start();
    const id = await bench.accept();
    expect(await bench.until(id, "failed")).toMatchObject({ reason });
    expect(await found(id)).toBeDefined();
  });

  test("is kept if it was cancelled", async () => {
    open({ annotations: forAnHour }).answer = hang;
    bench.start();
    const id = await bench.accept();
    await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
    await cancelCall(bench, id, () => {});
    await bench.until(id, "cancelled");
    expect(await found(id)).toBeDefined();
  });

  test("is kept after its record has nothing pending, and before it leaves the queue", async () => {
    open({ annotations: forAnHour, attempts: 0 }).answer = () => answered(503);
    const seen: unknown[] = [];
    const put = async ({ call: { id } }: SafeRequest) => {
      seen.push([(await bench.entry(id)).pending, bench.deadLetters.all().length, bench.calls.size("default")]);
      return true;
    };
    bench.start({ requests: { put } });
    await bench.until(await bench.accept(), "failed");
    expect(seen).toEqual([[[], 1, 1]]);
  });

  test.each<[string, BenchOptions["annotations"], number | undefined, number | undefined]>([
    ["as the platform says, where its function says nothing", undefined, 2 * hour, 2 * hour],
    ["not at all by itself", undefined, 0, undefined],
    ["as its function says, else", forAnHour, 2 * hour, hour],
    ["not at all if its function says so", { "com.service.history.bodies": "0" }, 2 * hour, undefined],
    ["not at all without a history", forAnHour, undefined, undefined],
  ])("is kept %s", async (_name, annotations, requestTtl, expected) => {
    open(annotations === undefined ? {} : { annotations });
    const requests = notingKeeper(true);
    bench.start({ requests, requestTtl });
    await bench.until(await bench.accept(), "done");
    expect(requests.given.map(([, ttl]) => ttl)).toEqual(expected === undefined ? [] : [expected]);
  });

  test("is not kept once its function is gone", async () => {
    open({ annotations: forAnHour }).answer = () => {
      bench.table.functionObserver.removed(sampleCall().function);
      return answered();
    };
    const requests = notingKeeper(true);
    bench.start({ requests, requestTtl: hour });
    await bench.until(await bench.accept(), "done");
    expect(requests.given).toEqual([]);
  });

  test("that cannot be stored is tried once and counted, and the call is settled", async () => {
    open({ annotations: forAnHour });
    const registry = new Registry();
    const requests = notingKeeper(false);
    bench.start({ requests, metrics: buildWorkerMetrics(registry) });
    await bench.until(await bench.accept(), "done");
    expect(requests.given.length).toBe(1);
    expect(await registry.metrics()).toContain('queue_worker_requests_dropped_total{queue_name="default"} 1');
  });
});
