import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { releaseBuffer } from "#release-buffer";
import { selfSigned } from "../support/self-signed.ts";
import { readFromFunctionSlowly, sendToSlowFunction, type SlowGateway } from "../support/slow-readers.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

const mebibyte = 1_048_576;

/** The kernel buffers about 3 MiB of a connection; the rest of larger bodies waits in the gateway. */
const small = { size: mebibyte, rate: mebibyte / 2, transfers: 8, others: 50 } as const;
const large = { size: 6 * mebibyte, rate: 2 * mebibyte, transfers: 4, others: 10 } as const;

test("released bytes are overwritten here, so nobody can read them by mistake", () => {
  const bytes = Buffer.from("somebody's");
  releaseBuffer(bytes);
  expect(bytes.every((byte) => byte === 0xdd)).toBe(true);
});

describe("bytes belong to their reader until it releases them (H11)", () => {
  let unencrypted: SyncGateway;
  let tls: SyncGateway;
  let cert: Buffer;

  beforeAll(async () => {
    const pair = await selfSigned();
    ({ cert } = pair);
    const options = {
      upstreamTimeout: 60_000,
      server: { bodyIdleTimeout: 60_000 },
      // The kernel asks for more only when it has sent a part of what it has: for seconds no byte moves.
      invoker: { webSocketIdle: 60_000 },
    };
    unencrypted = await openSyncGateway(options);
    tls = await openSyncGateway({ ...options, server: { ...options.server, tls: pair } });
  });
  afterAll(async () => {
    await unencrypted?.close();
    await tls?.close();
  });
  const over = (transport: "TCP" | "TLS"): SlowGateway =>
    transport === "TCP" ? unencrypted : { deploy: tls.deploy, port: tls.port, cert };

  test.concurrent.each([
    ["TCP", "length", small],
    ["TCP", "length", large],
    ["TCP", "chunks", large],
    ["TCP", "websocket", large],
    ["TLS", "length", large],
    ["TLS", "http2", large],
  ] as const)("over %s, by %s, bodies to a function that reads slowly: %j", async (transport, by, transfer) => {
    const { faults, otherCalls } = await sendToSlowFunction(over(transport), { ...transfer, by });
    expect(faults.slice(0, 5)).toEqual([]);
    expect(otherCalls).toBeGreaterThan(transfer.others);
  });

  test.concurrent.each([
    ["TCP", "length", small],
    ["TCP", "length", large],
    ["TLS", "length", large],
    ["TLS", "http2", large],
  ] as const)("over %s, by %s, replies to clients that read slowly: %j", async (transport, by, transfer) => {
    const { faults, otherCalls } = await readFromFunctionSlowly(over(transport), { ...transfer, by });
    expect(faults.slice(0, 5)).toEqual([]);
    expect(otherCalls).toBeGreaterThan(transfer.others);
  });
});
