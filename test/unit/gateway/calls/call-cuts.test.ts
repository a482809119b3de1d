import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { buildCallCuts } from "../../../../runtime/gateway/calls/call-cuts.ts";

test("buildCallCuts() counts by reason, and logs one line with the reason and the bytes passed", async () => {
  const written: Record<string, unknown>[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void written.push(JSON.parse(line)) });
  const registry = new Registry();
  const cuts = buildCallCuts(registry, log);
  const ref = { name: "chat", namespace: "functions" };
  const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  cuts("idle", { callId: "id", ref, traceParent }, { duration: 61_000.4, bytesIn: 2, bytesOut: 9 });

  expect(written).toMatchObject([
    {
      msg: "call was cut",
      callId: "id",
      functionName: "chat",
      namespace: "functions",
      reason: "idle",
      duration: 61_000,
      bytesIn: 2,
      bytesOut: 9,
      traceId: "0af7651916cd43dd8448eb211c80319c",
    },
  ]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('gateway_calls_cut_total{reason="idle"} 1\n');
  expect(metrics).toContain('gateway_calls_cut_total{reason="draining"} 0\n');
});
