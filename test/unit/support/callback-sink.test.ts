import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { openCallbackSink } from "../../support/callback-sink.ts";
import { openLedger, readLedger } from "../../support/ledger.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const call = (url: string, id: string, body = "", timeout = 30_000) =>
  fetch(url, { method: "POST", body, headers: { "X-Call-Id": id }, signal: AbortSignal.timeout(timeout) });

test("a callback is kept, recorded and gets a response", async () => {
  await using directory = await tempDirectory("sink");
  const ledger = openLedger(directory.path, "sink");
  await using sink = await openCallbackSink({ ledger });

  expect((await call(sink.url, "a", "output")).status).toBe(200);
  const received = await sink.waitFor("a");
  expect(received.method).toBe("POST");
  expect(received.target).toBe("/callback");
  expect(received.body.toString()).toBe("output");
  ledger.close();

  const [written] = readLedger(directory.path).callbacks;
  expect(written?.id).toBe("a");
  expect(written?.answered).toBe(200);
  expect(written?.bodySize).toBe(6);
  expect(written?.bodyHash).toBe(createHash("sha256").update("output").digest("hex"));
  expect(written?.headers["x-call-id"]).toBe("a");
});

test("the sink misbehaves on demand, first once, then always", async () => {
  await using sink = await openCallbackSink();
  sink.answerNext({ kind: "status", status: 404 }, { kind: "reset" }, { kind: "hang" });
  sink.answerAlways({ kind: "status", status: 503, headers: { "Retry-After": "7" } });

  expect((await call(sink.url, "a")).status).toBe(404);
  await expect(call(sink.url, "b")).rejects.toThrow("fetch failed");
  await expect(call(sink.url, "c", "", 1_000)).rejects.toThrow(/timeout/);
  const last = await call(sink.url, "d");
  expect(last.status).toBe(503);
  expect(last.headers.get("retry-after")).toBe("7");
  expect(sink.received.map(({ id, answered }) => [id, answered])).toEqual([
    ["a", 404],
    ["b", undefined],
    ["c", undefined],
    ["d", 503],
  ]);
});

test("a closed sink reopens on its port", async () => {
  const first = await openCallbackSink();
  await first.close();
  await expect(call(first.url, "a")).rejects.toThrow("fetch failed");

  await using second = await openCallbackSink({ port: first.port });
  expect(second.url).toBe(first.url);
  expect((await call(second.url, "a")).status).toBe(200);
});
