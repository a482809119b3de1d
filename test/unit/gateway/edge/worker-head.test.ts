import { expect, test } from "vitest";

import { readRequestHead } from "../../../../runtime/gateway/edge/read-request-head.ts";
import { workerHead } from "../../../../runtime/gateway/edge/worker-head.ts";

const raw = [
  "Host",
  "gw",
  "Content-Length",
  "2",
  "X-Own",
  "1",
  "X-Forwarded-For",
  "203.0.113.7",
  "X-Forwarded-Proto",
  "https",
  "X-Call-Attempt",
  "3",
  "X-Parent-Call-Id",
  "p",
  "X-Start-Time",
  "17",
  "Authorization",
  "Bearer own",
  "Weir-Invoke",
  "key",
  "Weir-Timeout",
  "1500",
  "X_Call_Attempt",
  "9",
  "Connection",
  "keep-alive",
  "TE",
  "trailers",
];

test("headers of the queue-worker pass as they are, except its key, its limit and those of the connection", () => {
  const plain = readRequestHead(raw, "10.0.0.9");
  expect(plain).toMatchObject({ invokeKey: "key", invokeTimeout: 1_500, fromWorker: false, startTime: "17" });
  expect(plain.forward.list.join()).not.toMatch(/attempt|parent|weir/i);

  const head = workerHead(raw, plain);
  expect(head).toMatchObject({ fromWorker: true, authorization: "Bearer own" });
  expect(head.forward.list).toEqual([
    "X-Own",
    "1",
    "X-Forwarded-For",
    "203.0.113.7",
    "X-Forwarded-Proto",
    "https",
    "X-Call-Attempt",
    "3",
    "X-Parent-Call-Id",
    "p",
  ]);
});

test("a repeated key or limit is refused; a limit that is no number counts as absent", () => {
  const twice = ["Host", "gw", "Weir-Invoke", "a", "weir-invoke", "b"];
  expect(() => readRequestHead(twice, "10.0.0.9")).toThrow(/came twice/);
  expect(readRequestHead(["Host", "gw", "Weir-Timeout", "-1"], "10.0.0.9").invokeTimeout).toBeUndefined();
});
