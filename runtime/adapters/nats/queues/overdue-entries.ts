import { parseCallId } from "../../../api/grammar.ts";
import type { CallLedger, LedgerEntry } from "../../../core/ports/call-ledger.ts";
import { messageHeader } from "./call-message.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readFrom } from "../link/read-last.ts";
import { callbackStream } from "../stream-names.ts";

/** Longest that one look takes, milliseconds: thousands of entries. */
const lookTime = 2_000;
/** A callback may wait so long between two tries, milliseconds, and a little for the try itself. */
const longestCallbackWait = 600_000;

/**
 * Goes through the unanswered entries of a work queue and counts those that should have been offered again long ago:
 * neither does a living worker hold them, nor do they wait for a time that is yet to come. A look that has no time for
 * all is gone on with by the next one, so that those behind many that wait rightly are seen, too.
 */
export class OverdueEntries {
  readonly #link: NatsLink;
  readonly #ledger: Pick<CallLedger, "read" | "now">;
  /** Where the next look begins, by stream. */
  readonly #next = new Map<string, number>();

  constructor(link: NatsLink, ledger: Pick<CallLedger, "read" | "now">) {
    this.#link = link;
    this.#ledger = ledger;
  }

  async count(stream: string, consumer: string): Promise<number> {
    const { ack_floor: floor, delivered, config } = await this.#link.jsm.consumers.info(stream, consumer);
    const patience = (3 * (config.ack_wait ?? 0)) / 1_000_000;
    const isOverdue = stream === callbackStream ? isOverdueCallback : isOverdueCall;
    const until = performance.now() + lookTime;
    let overdue = 0;
    let next = Math.max(floor.stream_seq + 1, this.#next.get(stream) ?? 0);
    while (next <= delivered.stream_seq && performance.now() < until) {
      const entry = await readFrom(this.#link, stream, next);
      next = entry === undefined ? Number.POSITIVE_INFINITY : entry.sequence + 1;
      if (entry === undefined || entry.sequence > delivered.stream_seq) break;
      const id = parseCallId(entry.headers.get(messageHeader.call) ?? "");
      const found = id === undefined ? undefined : await this.#ledger.read(id);
      if (isOverdue(found, this.#ledger.now(), patience)) overdue++;
    }
    if (next <= delivered.stream_seq) this.#next.set(stream, next);
    else this.#next.delete(stream);
    return overdue;
  }
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
