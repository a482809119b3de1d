import { MockAgent } from "undici";
import { describe, expect, test } from "vitest";

import type { CallRecord } from "../../../../runtime/api/schemas/call-record.ts";
import { GatewayClient } from "../../../../runtime/cli/client/gateway-client.ts";
import { requireDone, waitForCall } from "../../../../runtime/cli/commands/calls/wait-for-call.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const address = "http://gateway.test";
const record = (state: CallRecord["state"], more: Partial<CallRecord> = {}): CallRecord => ({
  callId: id,
  functionName: "hello",
  namespace: "functions",
  queue: "default",
  state,
  acceptedAt: "2026-01-31T12:00:00.000Z",
  startTime: "1769860800000000000",
  retries: 0,
  maxRetries: 10,
  attempts: [],
  ...more,
});

/** A gateway whose requests take all the time that they may wait, on a clock of their own. */
function gatewayOf(states: readonly CallRecord["state"][]) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const waits: number[] = [];
  let now = 0;
  for (const state of states)
    agent
      .get(address)
      .intercept({ method: "GET", path: (path) => path.startsWith(`/async-function/${id}?wait=`) })
      .reply(200, ({ path }) => {
        const wait = Number.parseInt(path.split("=")[1] ?? "", 10);
        waits.push(wait);
        now += state === "done" ? 0 : wait;
        return JSON.stringify(record(state));
      });
  const signal = new AbortController().signal;
  const gateway = new GatewayClient({
    address,
    credentials: undefined,
    dispatcher: agent,
    timeout: 1_000,
    signal,
    debug: undefined,
  });
  return { gateway, waits, now: () => now };
}

describe("waitForCall", () => {
  test("asks again until the call has ended, for a minute at most each time", async () => {
    const { gateway, waits, now } = gatewayOf(["queued", "running", "done"]);
    expect(await waitForCall(gateway, id, 600_000, now)).toEqual(record("done"));
    expect(waits).toEqual([60_000, 60_000, 60_000]);
  });

  test("gives up when its time is over, with exit code 6 and the way to go on", async () => {
    const { gateway, waits, now } = gatewayOf(["queued", "waiting"]);
    await expect(waitForCall(gateway, id, 90_000, now)).rejects.toMatchObject({
      exit: 6,
      message: `Cannot wait any longer for call "${id}": it is waiting after 1m30s`,
      hint: `weir calls wait ${id}`,
    });
    expect(waits).toEqual([60_000, 30_000]);
  });
});

describe("requireDone", () => {
  test("accepts a call that is done", () => {
    expect(() => requireDone(record("done"))).not.toThrow();
  });

  test.each([
    [record("cancelled"), `Call "${id}" ended cancelled`],
    [record("failed", { reason: "expired" }), `Call "${id}" ended failed: expired`],
    [
      record("failed", {
        reason: "exhausted",
        result: { href: "", status: 500, size: 0, stored: true, expiresAt: "2026-01-31T13:00:00.000Z" },
      }),
      `Call "${id}" ended failed: exhausted, status 500`,
    ],
  ])("is exit code 7 for others: %#", (ended, message) => {
    expect(() => requireDone(ended)).toThrow(expect.objectContaining({ exit: 7, message }));
  });
});
