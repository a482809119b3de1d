import { expect, test } from "vitest";

import { reportIn } from "../../../../../runtime/adapters/machine/local/watchdog-report.ts";

test.each([
  undefined,
  null,
  7,
  "serving",
  {},
  { port: 80 },
  { serving: "true" },
  { inner: 80 },
  { inner: "127.0.0.1" },
  { failure: {} },
  { waiting: {} },
  { failure: { reason: "a b", message: "x" } },
])("%j is no report", (message) => expect(reportIn(message)).toBeUndefined());

test("that it serves, an inner address, a failure and a wait are reports", () => {
  expect(reportIn({ waiting: { reason: "NotListening", message: "x" } })).toEqual({
    waiting: { reason: "NotListening", message: "x" },
  });
  expect(reportIn({ serving: true, port: 80 })).toEqual({ serving: true });
  expect(reportIn({ inner: "127.0.0.1:20000" })).toEqual({ inner: "127.0.0.1:20000" });
  expect(reportIn({ failure: { reason: "PortInUse", message: "x" } })).toEqual({
    failure: { reason: "PortInUse", message: "x" },
  });
});
