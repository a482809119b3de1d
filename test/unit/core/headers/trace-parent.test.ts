import { expect, test } from "vitest";

import { isTraceParent, traceIdIn, traceIdOf } from "../../../../runtime/core/headers/trace-parent.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const valid = `00-${traceId}-${spanId}-01`;

const zeroFirst = "0af7651916cd43dd8448eb211c80319c";

test("an id may begin with a zero", () => {
  expect(traceIdIn(["traceparent", `00-${zeroFirst}-${spanId}-01`])).toBe(zeroFirst);
});

test.each([valid, `cc-${traceId}-${spanId}-01`, `cc-${traceId}-${spanId}-01-more`, `f0-${traceId}-${spanId}-00`])(
  "%s can be passed on",
  (value) => {
    expect(isTraceParent(value)).toBe(true);
    expect(traceIdOf(value)).toBe(traceId);
  },
);

test.each([
  ["empty", ""],
  ["version ff", `ff-${traceId}-${spanId}-01`],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${spanId}-01`],
  ["a span id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["capitals", valid.toUpperCase()],
  ["a short trace id", `00-${traceId.slice(1)}-${spanId}-01`],
  ["a short span id", `00-${traceId}-${spanId.slice(1)}-01`],
  ["short flags", `00-${traceId}-${spanId}-1`],
  ["a version that is not hexadecimal", `0x-${traceId}-${spanId}-01`],
  ["flags that are not hexadecimal", `00-${traceId}-${spanId}-0x`],
  ["something before", ` ${valid}`],
  ["more text in version 00", `${valid}-more`],
  ["more text without a dash", `cc-${traceId}-${spanId}-01more`],
])("%s cannot be passed on", (_what, value) => {
  expect(isTraceParent(value)).toBe(false);
  expect(traceIdIn(["traceparent", value])).toBeUndefined();
});

test("the trace id of a call is taken from its header", () => {
  expect(traceIdIn(["TraceParent", valid])).toBe(traceId);
  expect(traceIdIn(["tracestate", valid])).toBeUndefined();
});
