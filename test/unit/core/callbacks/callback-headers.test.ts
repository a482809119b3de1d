import { expect, test } from "vitest";

import { release } from "../../../../runtime/api/version.ts";
import { callbackHeaders, statusWithoutResponse } from "../../../../runtime/core/callbacks/callback-headers.ts";
import { headerValue } from "../../../../runtime/core/headers/header-list.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const done = sampleEntry({
  state: "done",
  status: 207,
  retries: 2,
  maxRetries: 5,
  attempts: [
    { number: 1, startedAt: 0, endedAt: 1, duration: 9_000 },
    { number: 2, startedAt: 2, endedAt: 3, duration: 1_234.5678 },
  ],
});

test("has every header of the contract, each once", () => {
  const headers = callbackHeaders(id, done, 3, []);
  expect(headers).toEqual([
    "X-Call-Id",
    id,
    "X-Duration-Seconds",
    "1.234568",
    "X-Function-Status",
    "207",
    "X-Function-Name",
    "echo",
    "User-Agent",
    `queue-worker/${release}`,
    "X-Retry",
    "2",
    "X-Retry-Max",
    "5",
    "X-Start-Time",
    done.accepted,
    "X-Call-Depth",
    "4",
  ]);
});

test("overrides these headers of the function, drops cookies and credentials, and keeps the rest in order", () => {
  const response = [
    "Content-Type",
    "text/plain",
    "x-call-id",
    "forged",
    "X-DURATION-SECONDS",
    "0",
    "X-Function-Status",
    "200",
    "X-Function-Name",
    "forged",
    "user-agent",
    "forged",
    "X-Retry",
    "9",
    "x-retry-max",
    "9",
    "X-Start-Time",
    "0",
    "X-Call-Depth",
    "0",
    "X-Result-Truncated",
    "true",
    "Host",
    "evil",
    "Content-Length",
    "99",
    "Expect",
    "100-continue",
    "Authorization",
    "Bearer of-the-function",
    "Cookie",
    "a=b",
    "Set-Cookie",
    "c=d",
    "X-Own",
    "a",
    "X-Own",
    "b",
  ];
  const headers = callbackHeaders(id, done, 0, response);
  expect(headers.slice(0, 6)).toEqual(["Content-Type", "text/plain", "X-Own", "a", "X-Own", "b"]);
  expect(headers.slice(6)).toEqual(callbackHeaders(id, done, 0, []));
});

test("a call without a response has a status for that case", () => {
  const crashed = sampleEntry({ state: "failed", reason: "crash" });
  const expired = sampleEntry({ state: "failed", reason: "expired" });
  expect(statusWithoutResponse(crashed)).toBe(502);
  expect(headerValue(callbackHeaders(id, expired, 0, []), "x-function-status")).toBe("504");
  expect(headerValue(callbackHeaders(id, crashed, 0, []), "x-duration-seconds")).toBe("0.000000");
});

test("the duration is that of the last run, even if it is the only one", () => {
  const [first] = done.attempts;
  const once = { ...done, attempts: first === undefined ? [] : [first] };
  expect(headerValue(callbackHeaders(id, once, 0, []), "x-duration-seconds")).toBe("9.000000");
});
