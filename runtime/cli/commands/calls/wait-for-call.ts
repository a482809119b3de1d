import { formatDuration } from "../../../api/duration.ts";
import type { CallRecord } from "../../../api/schemas/call-record.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readOne } from "../../client/read-reply.ts";
import { callReply } from "../../client/reply-kinds.ts";
import { exitCode } from "../../exit-code.ts";
import { stateText } from "./call-text.ts";

/** Milliseconds that a gateway waits at most in one request (contract §4.5), and that its reply may take then. */
const longestWait = 60_000;
const replyGrace = 30_000;

/** Milliseconds that a command waits for a call unless `--timeout` says otherwise. */
export const defaultCallWait = 600_000;

/**
 * The record of a call, once it has ended; `timeout` in milliseconds.
 * @throws CliError with exit code 6 when it has not ended by then
 */
export async function waitForCall(
  gateway: GatewayClient,
  id: string,
  timeout: number,
  now: () => number = () => performance.now(),
): Promise<CallRecord> {
  const until = now() + timeout;
  for (;;) {
    const wait = Math.max(1, Math.min(longestWait, Math.ceil(until - now())));
    const record = await readOne(gateway, `/async-function/${id}`, callReply, {
      query: { wait: `${wait}ms` },
      timeout: wait + replyGrace,
    });
    if (hasEnded(record)) return record;
    if (now() < until) continue;
    const state = `it is ${record.state} after ${formatDuration(timeout)}`;
    throw new CliError(exitCode.timeout, `Cannot wait any longer for call "${id}": ${state}`, {
      hint: `weir calls wait ${id}`,
    });
  }
}

/** @throws CliError with exit code 7 unless the call is done */
export function requireDone(record: CallRecord): void {
  if (record.state === "done") return;
  const status = record.result === undefined ? "" : `, status ${record.result.status}`;
  throw new CliError(exitCode.functionFailed, `Call "${record.callId}" ended ${stateText(record)}${status}`);
}

function hasEnded({ state }: CallRecord): boolean {
  return state === "done" || state === "failed" || state === "cancelled";
}
