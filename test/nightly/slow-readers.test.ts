import { expect, test } from "vitest";

import { readFromFunctionSlowly, sendToSlowFunction } from "../support/slow-readers.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";

/** 12 MB at 64 KiB per second: three minutes, during which 50 others call. */
const transfer = { size: 12_000_000, rate: 65_536, transfers: 12, others: 50 } as const;

test("12 MB in each direction, read at 64 KiB a second, arrive unchanged beside 50 other callers", async () => {
  const gateway = await openSyncGateway({
    upstreamTimeout: 600_000,
    server: { bodyIdleTimeout: 30_000 },
    // Kernels buffer up to 10 MB of a connection; the gateway does not see when the rest is read from them.
    invoker: { streamIdle: 300_000, webSocketIdle: 300_000 },
  });
  try {
    const outcomes = await Promise.all([
      sendToSlowFunction(gateway, transfer),
      sendToSlowFunction(gateway, { ...transfer, by: "chunks" }),
      sendToSlowFunction(gateway, { ...transfer, by: "websocket" }),
      readFromFunctionSlowly(gateway, transfer),
    ]);
    expect(outcomes.flatMap(({ faults }) => faults).slice(0, 5)).toEqual([]);
    for (const { otherCalls } of outcomes) expect(otherCalls).toBeGreaterThan(1_000);
  } finally {
    await gateway.close();
  }
});
