import { expect, test } from "vitest";

import { reportIn } from "../../../../../runtime/adapters/machine/local/watchdog-report.ts";

test.each([
  undefined,
  null,
  7,
  "port",
  {},
  { port: "80" },
  { port: 0 },
  { port: 70_000 },
  { port: 1.5 },
  { failure: {} },
  { waiting: {} },
  { failure: { reason: "a b", message: "x" } },
])("%j is no report", (message) => expect(reportIn(message)).toBeUndefined());

test("a port, a failure and a wait are reports", () => {
  expect(reportIn({ waiting: { reason: "NotListening", message: "x" } })).toEqual({
    waiting: { reason: "NotListening", message: "x" },
  });
  expect(reportIn({ port: 80, more: true })).toEqual({ port: 80 });
  expect(reportIn({ failure: { reason: "PortInUse", message: "x" } })).toEqual({
    failure: { reason: "PortInUse", message: "x" },
  });
});
