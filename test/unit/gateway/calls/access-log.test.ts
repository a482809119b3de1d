import pino from "pino";
import { expect, test } from "vitest";

import { createAccessLog } from "../../../../runtime/gateway/calls/access-log.ts";

test("createAccessLog() writes its lines at any level of the log, without unknown fields", () => {
  const written: Record<string, unknown>[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void written.push(JSON.parse(line)) });
  createAccessLog(log)({
    callId: "id",
    functionName: undefined,
    namespace: undefined,
    method: "GET",
    status: 404,
    duration: 1.23456,
    bytesIn: 0,
    bytesOut: 9,
    client: "10.0.0.9",
    traceId: "t",
  });
  log.info("not this");

  expect(written).toMatchObject([{ msg: "call", callId: "id", status: 404, duration: 1.235, bytesOut: 9 }]);
  expect(Object.keys(written[0] ?? {})).not.toContain("functionName");
});
