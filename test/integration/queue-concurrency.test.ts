import { afterAll, beforeAll, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

let platform: Platform;
let busy: FunctionServer;
let inFlight = 0;
let most = 0;

beforeAll(async () => {
  platform = await openPlatform({ slots: 4, retryAttempts: 50, retryMinWait: 50, retryMaxWait: 100 });
  busy = await openFunctionServer((_request, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.end("ok");
    }, 100);
  });
  await platform.deploy("busy", {
    addresses: [busy.address],
    annotations: { "com.service.concurrency.max": "1" },
  });
});
afterAll(async () => {
  await platform?.close();
  await busy?.close();
});

test("concurrency.max holds for queued calls, too: calls above it are retried, and all end as done", async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => platform.calls.accepted("busy")));
  const records = await Promise.all(ids.map((id) => platform.calls.ended(id, 30_000)));
  expect(records.map(({ state }) => state)).toEqual(ids.map(() => "done"));
  expect(most).toBe(1);
  expect(busy.requests).toHaveLength(ids.length);
  // Errors of older attempts are shortened.
  const newest = records.flatMap(({ attempts }) => attempts.slice(-4));
  const refused = newest.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.error).toContain("concurrency.max");
});
