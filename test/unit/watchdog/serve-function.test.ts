import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { serveFunction, type FunctionServer } from "../../../runtime/watchdog/serve-function.ts";

let server: FunctionServer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  server = await serveFunction({
    host: "127.0.0.1",
    port: 0,
    maxInflight: 0,
    healthPath: "/_/health",
    readyPath: "/_/ready",
    handler: {
      handle: (_request, response) => void response.end("served"),
      ready: async () => true,
      started: Promise.resolve(),
      ended: new Promise(() => {}),
      close: async () => {},
    },
  });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Calls over a connection of its own. */
async function call(): Promise<string> {
  const request = sendRequest({ agent: false, host: "127.0.0.1", port: server.port });
  const [response] = await once(request.end(), "response");
  return text(response);
}

const refused = { code: "ECONNREFUSED" };

test("a stop accepts new connections until none came for 250 ms", async () => {
  const drained = server.drain(60_000);
  for (let step = 0; step < 20; step += 1) {
    await vi.advanceTimersByTimeAsync(200);
    expect(await call()).toBe("served");
  }
  // One of them may have come in the period that ends first.
  await vi.advanceTimersByTimeAsync(250);
  await turns();
  await vi.advanceTimersByTimeAsync(250);
  await drained;

  await expect(call()).rejects.toMatchObject(refused);
});

test.each([
  ["5 s", 60_000, 5_000],
  ["half of its grace, which leaves the calls in flight the other half", 2_000, 1_000],
])("callers that never learn of a stop are refused after %s", async (_, grace, longest) => {
  const drained = server.drain(grace);
  for (let step = 100; step < longest; step += 100) {
    await vi.advanceTimersByTimeAsync(100);
    expect(await call()).toBe("served");
  }
  await vi.advanceTimersByTimeAsync(100);
  await drained;

  await expect(call()).rejects.toMatchObject(refused);
});

/** As many turns of the event loop as a stop takes to see that no connection waits. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
