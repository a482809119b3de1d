import { expect, test } from "vitest";

import { endedCall } from "../../../../runtime/cli/dev/gateway/own-weir.ts";
import { logText } from "../../../../runtime/process/log-text.ts";

test("a line of the access log is a call, whatever follows in it", () => {
  const line = JSON.stringify({
    level: 30,
    time: "2026-01-31T12:00:00.000Z",
    msg: "call",
    callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
    functionName: "hello",
    namespace: "functions",
    method: "POST",
    status: 200,
    duration: 12.345,
    bytesIn: 1,
  });
  expect(endedCall(logText(line, (_style, text) => text).trimEnd())).toEqual({
    functionName: "hello",
    namespace: "functions",
    callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
    method: "POST",
    status: "200",
    duration: "12.345",
  });
  expect(endedCall("12:00:00  WARN  call  hello.functions")).toBeUndefined();
});
