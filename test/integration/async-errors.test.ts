import { randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { MemoryCallLedger } from "../../runtime/adapters/memory/memory-call-ledger.ts";
import { MemoryCallQueue } from "../../runtime/adapters/memory/memory-call-queue.ts";
import { MemoryCallSignals } from "../../runtime/adapters/memory/memory-call-signals.ts";
import { functionLimits } from "../../runtime/core/function-limits.ts";
import { QueueTable } from "../../runtime/core/queue-table.ts";
import { buildAcceptMetrics } from "../../runtime/gateway/async/accept-metrics.ts";
import { createAsyncInvoker } from "../../runtime/gateway/async/async-invoker.ts";
import { EndWatch } from "../../runtime/gateway/async/end-watch.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import { createLog } from "../../runtime/process/log.ts";
import { createTestPlatform, openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

const id = "0af76519-16cd-43dd-8448-eb211c80319c";
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("errors of /async-function/", () => {
  let gateway: SyncGateway;

  beforeAll(async () => {
    const signals = new MemoryCallSignals();
    const invokeAsync = createAsyncInvoker({
      table: createTestPlatform().table,
      queues: new QueueTable(),
      calls: new MemoryCallQueue({ ackWait: 60_000 }),
      ledger: new MemoryCallLedger(),
      times: { callAge: 60_000, callRecordTtl: 60_000, ackWait: 60_000 },
      signals,
      ends: new EndWatch(signals),
      edition: "community",
      limitsOf: (wanted) => functionLimits(wanted.deployment),
      invokeAuth: false,
      authorise: () => {},
      clientOf: () => "",
      isPlatformCredential: () => false,
      callbackRules: { policy: "any", allow: [], gatewayOrigins: [], closedPorts: [] },
      bodyLimit: 1_048_576,
      metrics: buildAcceptMetrics(new Registry()),
      writeError: createErrorWriter(createLog("test", "silent")).writeError,
    });
    gateway = await openSyncGateway({ invokeAsync });
  });
  afterAll(() => gateway.close());

  const send = (method: string, path: string): Promise<Response> =>
    fetch(`${gateway.base}/async-function/${path}`, { method });

  test.each([
    ["GET", "echo", 405],
    ["PUT", id, 405],
    ["GET", `${id}/results`, 405],
    ["DELETE", "echo", 400],
    ["DELETE", `a/b/${id}`, 400],
    ["GET", "", 405],
    ["POST", "echo", 404],
  ])("%s of %j is %i and has a call id", async (method, path, status) => {
    const answer = await send(method, path);
    expect([answer.status, answer.headers.get("x-call-id")]).toEqual([status, expect.stringMatching(uuid)]);
  });

  test.each([
    ["GET", id],
    ["GET", `${id}/result`],
    ["DELETE", id.toUpperCase()],
    ["DELETE", `echo/${id}`],
  ])("%s of the unknown call %j is 404 under its own id", async (method, path) => {
    const answer = await send(method, path);
    expect([answer.status, answer.headers.get("x-call-id")]).toEqual([404, id]);
  });

  test("405 allows what there is at that path", async () => {
    expect((await send("PUT", "echo")).headers.get("allow")).toBe("POST");
    expect((await send("PUT", randomUUID())).headers.get("allow")).toBe("DELETE, GET, HEAD, POST");
  });
});
