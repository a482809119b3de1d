import { expect, test } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { openFunctionServer } from "../../support/function-server.ts";
import { openLedger, readLedger } from "../../support/ledger.ts";
import { classifyAnswer, quantile, sendLoad } from "../../support/load.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

test("responses are classified as in the ledger's table", () => {
  expect(classifyAnswer(202, undefined)).toBe("accepted");
  for (const status of [400, 404, 413, 429]) expect(classifyAnswer(status, undefined)).toBe("refused");
  expect(classifyAnswer(503, "no")).toBe("refused");
  expect(classifyAnswer(503, "unknown")).toBe("unknown");
  expect(classifyAnswer(503, undefined)).toBe("unknown");
  for (const status of [200, 302, 500, 502]) expect(classifyAnswer(status, "no")).toBe("unknown");
});

test("calls arrive at their rate, each with its own id, and are recorded by class", async () => {
  await using directory = await tempDirectory("load");
  const responses: readonly (readonly [number, Record<string, string>])[] = [
    [202, {}],
    [503, { "X-Call-Queued": "no" }],
    [503, { "X-Call-Queued": "unknown" }],
    [429, {}],
  ];
  const gateway = await openFunctionServer((request, response, body) => {
    if (body === "4") return request.socket.resetAndDestroy();
    const [status, headers] = responses[Number(body)] ?? [202, {}];
    return response.writeHead(status, headers).end();
  });
  const ledger = openLedger(directory.path, "sender");
  const begin = performance.now();
  const summary = await sendLoad({
    gateway: `http://${gateway.address}`,
    functionName: "echo",
    rate: 100,
    count: 20,
    body: String,
    callbackUrl: "http://127.0.0.1:9/",
    ledger,
  });
  ledger.close();
  await gateway.close();

  expect(performance.now() - begin).toBeGreaterThanOrEqual(180);
  expect(summary.dropped).toBe(0);
  expect(summary.latencies).toHaveLength(16);
  const written = readLedger(directory.path).sent;
  expect(
    written
      .toSorted((a, b) => a.sequence - b.sequence)
      .slice(0, 6)
      .map((sent) => sent.class),
  ).toEqual(["accepted", "refused", "unknown", "refused", "unknown", "accepted"]);
  expect(new Set(written.map(({ id }) => id)).size).toBe(20);
  expect(written.every(({ callback }) => callback)).toBe(true);
  const seen = gateway.requests.find(({ body }) => body === "7");
  expect(seen?.target).toBe("/async-function/echo");
  expect(seen?.headers["x-callback-url"]).toBe("http://127.0.0.1:9/");
  expect(seen?.headers["x-call-id"]).toBe(written.find(({ sequence }) => sequence === 7)?.id);
});

test("a refused connection is a refusal, a missing response is not", async () => {
  const nobody = await sendLoad({
    gateway: `http://127.0.0.1:${await freePort()}`,
    functionName: "f",
    rate: 100,
    count: 2,
  });
  expect(nobody.sent.map((sent) => sent.class)).toEqual(["refused", "refused"]);

  const silent = await openFunctionServer(() => undefined);
  const three = {
    gateway: `http://${silent.address}`,
    functionName: "f",
    rate: 1_000,
    count: 3,
    maxInFlight: 2,
    timeout: 50,
  };
  const unanswered = await sendLoad(three);
  const late = await sendLoad({ ...three, beyond: "late" });
  await silent.close();
  expect([late.sent.length, late.dropped]).toEqual([3, 0]);
  expect(unanswered.sent.map((sent) => sent.class)).toEqual(["unknown", "unknown"]);
  expect(unanswered.dropped).toBe(1);
});

test("a load ends when it is aborted", async () => {
  const gateway = await openFunctionServer((_request, response) => response.writeHead(202).end());
  const ending = new AbortController();
  const load = sendLoad({
    gateway: `http://${gateway.address}`,
    functionName: "f",
    rate: 5,
    count: 1_000,
    signal: ending.signal,
    body: (sequence) => {
      if (sequence === 1) ending.abort();
      return "";
    },
  });
  expect((await load).sent).toHaveLength(2);
  await gateway.close();
});

test("quantiles of sorted numbers", () => {
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(3);
  expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  expect(quantile([], 0.5)).toBeNaN();
});
