import type { CallLogLine } from "../../api/schemas/history/call-log-line.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { exitCode } from "../exit-code.ts";
import { isLogRecord } from "./follow-log.ts";
import { BrokenStream, ndjsonValues } from "./ndjson-values.ts";

/** Milliseconds without a byte after which a connection is dead. */
const idleTimeout = 45_000;

/**
 * The lines of a call.
 * @throws CliError when the gateway refuses, cannot be reached, or the connection breaks
 */
export async function* readCallLog(gateway: GatewayClient, id: string): AsyncGenerator<CallLogLine> {
  const { body } = await gateway.accepted("GET", `/system/calls/${id}/logs`, { idleTimeout });
  try {
    for await (const value of ndjsonValues(body)) {
      if (!isCallLogLine(value))
        throw new CliError(exitCode.failed, `Cannot read the log of call "${id}": a line of it is no log record`);
      yield value;
    }
  } catch (err) {
    if (!(err instanceof BrokenStream)) throw err;
    throw new CliError(exitCode.unavailable, `Cannot read the log of call "${id}": ${err.message}`, { cause: err });
  }
}

function isCallLogLine(value: unknown): value is CallLogLine {
  return isLogRecord(value) && "match" in value && typeof value.match === "string";
}
