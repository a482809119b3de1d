import { expect, test } from "vitest";

import { replayedCall } from "../../../../../runtime/core/history/requests/replayed-call.ts";
import { sampleCall } from "../../../../contract/samples.ts";

const facts = { id: "replay-1", start: 5n, queue: "fast", headers: ["x-from", "gateway"] };
const call = {
  ...sampleCall(),
  callbackUrl: "https://example.com/done",
  headers: ["Traceparent", "00-1", "tracestate", "a=b", "Content-Type", "text/plain", "X-Kept", "1"],
  body: Buffer.from("first"),
};

test("is the call of before, with an id, a time and a queue of its own, and without its trace and callback", () => {
  expect(replayedCall(call, {}, facts)).toEqual({
    ...call,
    id: "replay-1",
    parentId: call.id,
    start: 5n,
    queue: "fast",
    callbackUrl: undefined,
    headers: ["Content-Type", "text/plain", "X-Kept", "1", "x-from", "gateway"],
    body: call.body,
  });
});

test("has the headers, the body and the callback that were asked for", () => {
  // A value that is the name of a header replaces nothing.
  const asked = { headers: ["content-TYPE", "x-kept"], body: "", callback: true };
  const replayed = replayedCall(call, asked, facts);
  expect(replayed.headers).toEqual(["X-Kept", "1", "content-TYPE", "x-kept", "x-from", "gateway"]);
  expect(replayed.body).toEqual(Buffer.alloc(0));
  expect(replayed.callbackUrl).toBe("https://example.com/done");
  const body = Buffer.from("second").toString("base64");
  expect(replayedCall(call, { body }, facts).body).toEqual(Buffer.from("second"));
});

test("each header that was asked for replaces all of its name", () => {
  const asked = { headers: ["X-New", "1", "x-kept", "2", "X-Kept", "3"] };
  const sent = ["Content-Type", "text/plain", "X-New", "1", "x-kept", "2", "X-Kept", "3", "x-from", "gateway"];
  expect(replayedCall(call, asked, facts).headers).toEqual(sent);
});

test("sends no callback where that was not wanted, nor makes one up", () => {
  expect(replayedCall(call, { callback: false }, facts).callbackUrl).toBeUndefined();
  expect(replayedCall({ ...call, callbackUrl: undefined }, { callback: true }, facts).callbackUrl).toBeUndefined();
});
