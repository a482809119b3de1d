import { writeReply } from "../../calls/write-reply.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import type { Output } from "../../output/output.ts";
import { requireDone, waitForCall } from "./wait-for-call.ts";

/** What is written of the end of a call. */
export interface WrittenEnd {
  /** How long it is waited for, milliseconds. */
  readonly wait: number;
  /** Whether status and headers of the reply are written, too. */
  readonly head: boolean;
  /** Completes the sentence `Cannot read the reply of …`. */
  readonly of: string;
}

/**
 * Waits for the end of a queued call, and writes what its function replied.
 * @throws CliError when it does not end in time, or is not done
 */
export async function writeEnd(
  output: Output,
  gateway: GatewayClient,
  id: string,
  { wait, head, of }: WrittenEnd,
): Promise<void> {
  const record = await waitForCall(gateway, id, wait);
  if (record.state === "done" || record.result?.stored === true) {
    const reply = await gateway.accepted("GET", `/async-function/${id}/result`);
    await writeReply(output, reply, { head, of });
  }
  requireDone(record);
}
