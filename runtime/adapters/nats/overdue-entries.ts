import { parseCallId } from "../../api/grammar.ts";
import type { CallLedger, LedgerEntry } from "../../core/ports/call-ledger.ts";
import { messageHeader } from "./call-message.ts";
import type { NatsLink } from "./nats-link.ts";
import { readFrom } from "./read-last.ts";
import { callbackStream } from "./stream-names.ts";

const mostLooks = 50;
/** A callback may wait so long between two tries, milliseconds, and a little for the try itself. */
const longestCallbackWait = 600_000;

/**
 * Goes through the oldest unanswered entries of a work queue and counts those that should have been offered again long
 * ago: neither does a living worker hold them, nor do they wait for a time that is yet to come.
 */
export async function countOverdue(
  link: NatsLink,
  ledger: Pick<CallLedger, "read" | "now">,
  stream: string,
  consumer: string,
): Promise<number> {
  const { ack_floor: floor, delivered, config } = await link.jsm.consumers.info(stream, consumer);
  const patience = (3 * (config.ack_wait ?? 0)) / 1_000_000;
  const isOverdue = stream === callbackStream ? isOverdueCallback : isOverdueCall;
  let overdue = 0;
  let next = floor.stream_seq + 1;
  for (let look = 0; look < mostLooks && next <= delivered.stream_seq; look++) {
    const entry = await readFrom(link, stream, next);
    if (entry === undefined || entry.sequence > delivered.stream_seq) break;
    next = entry.sequence + 1;
    const id = parseCallId(entry.headers.get(messageHeader.call) ?? "");
    const found = id === undefined ? undefined : await ledger.read(id);
    if (isOverdue(found, ledger.now(), patience)) overdue++;
  }
  return overdue;
}

function isOverdueCall(found: LedgerEntry | undefined, now: number, patience: number): boolean {
  if (found?.entry.state === "running") return now - found.writtenAt > patience;
  if (found?.entry.state === "waiting") return now - (found.entry.next ?? 0) > patience;
  return true;
}

function isOverdueCallback(found: LedgerEntry | undefined, now: number, patience: number): boolean {
  if (found?.entry.callback?.state !== "pending") return true;
  return now - found.writtenAt > Math.max(patience, longestCallbackWait);
}
