import { parseCallId } from "../../../api/grammar.ts";
import type { CallLedger } from "../../../core/ports/call-ledger.ts";
import { isOverdueCall, isOverdueCallback } from "../../../core/queues/overdue-entry.ts";
import { messageHeader } from "./call-message.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readFrom } from "../link/read-last.ts";
import { callbackStream } from "../stream-names.ts";

/** Longest time of one check, milliseconds; enough for thousands of entries. */
const checkTime = 2_000;
/**
 * Goes through the unacknowledged entries of a work queue and counts those that should have been redelivered long ago:
 * no live worker holds them, and they are not waiting for a time to come. A check that runs out of time is continued by
 * the next one, so that it also reaches entries behind many that wait legitimately.
 */
export class OverdueEntries {
  readonly #link: NatsLink;
  readonly #ledger: Pick<CallLedger, "read" | "now">;
  /** Sequence at which the next check begins, by stream. */
  readonly #next = new Map<string, number>();

  constructor(link: NatsLink, ledger: Pick<CallLedger, "read" | "now">) {
    this.#link = link;
    this.#ledger = ledger;
  }

  async count(stream: string, consumer: string): Promise<number> {
    const { ack_floor: floor, delivered, config } = await this.#link.jsm.consumers.info(stream, consumer);
    const tolerance = (3 * (config.ack_wait ?? 0)) / 1_000_000;
    const isOverdue = stream === callbackStream ? isOverdueCallback : isOverdueCall;
    const until = performance.now() + checkTime;
    let overdue = 0;
    let next = Math.max(floor.stream_seq + 1, this.#next.get(stream) ?? 0);
    while (next <= delivered.stream_seq && performance.now() < until) {
      const entry = await readFrom(this.#link, stream, next);
      next = entry === undefined ? Number.POSITIVE_INFINITY : entry.sequence + 1;
      if (entry === undefined || entry.sequence > delivered.stream_seq) break;
      const id = parseCallId(entry.headers.get(messageHeader.call) ?? "");
      const found = id === undefined ? undefined : await this.#ledger.read(id);
      if (isOverdue(found, this.#ledger.now(), tolerance)) overdue++;
    }
    if (next <= delivered.stream_seq) this.#next.set(stream, next);
    else this.#next.delete(stream);
    return overdue;
  }
}
