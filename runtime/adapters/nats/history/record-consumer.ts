import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nuid } from "@nats-io/transport-node";

import type { StreamPosition } from "../../../core/ports/call-history.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { recordStream } from "../records/call-record-reader.ts";

/** A consumer of the call records that was just created. */
export interface RecordConsumer {
  readonly name: string;
  /** Where it begins: what is before it was read, or is of another stream. */
  readonly start: StreamPosition;
  /** Sequence of the newest message when the consumer did not exist yet. */
  readonly lastSequence: number;
  /** Messages that it has to deliver. */
  readonly pending: number;
}

/** Nanoseconds without a request after which the broker removes the consumer of a process that is gone. */
const inactiveThreshold = 30 * 1_000_000_000;
/** Settings of consumers that change nothing for anybody else. */
export const lightConsumer = {
  ack_policy: AckPolicy.None,
  mem_storage: true,
  num_replicas: 1,
  inactive_threshold: inactiveThreshold,
} as const;
/** Milliseconds by which the time of a position may be too early: the broker's clock is known to half a round trip. */
const clockError = 1_000;

/**
 * Creates a consumer of what follows `after`, in the broker's memory and without acknowledgements: it changes nothing
 * for anybody else. Rejects while the broker or the stream is away.
 */
export async function createRecordConsumer(link: NatsLink, after: StreamPosition | undefined): Promise<RecordConsumer> {
  const { created, state } = await link.jsm.streams.info(recordStream);
  const firstLater = after?.created === created ? await firstStoredAfter(link, after) : undefined;
  const start = startOf({ created, lastSequence: state.last_seq, firstLater }, after);
  const { name, num_pending: pending } = await link.jsm.consumers.add(recordStream, {
    ...lightConsumer,
    name: `history-${nuid.next()}`,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: start.sequence + 1,
    max_waiting: 8,
  });
  return { name, start, lastSequence: state.last_seq, pending };
}

/** Sequence of the first message that was stored after the time of a position, by the consumer that would begin there. */
async function firstStoredAfter({ jsm }: NatsLink, { at }: StreamPosition): Promise<number> {
  const { name, delivered } = await jsm.consumers.add(recordStream, {
    ...lightConsumer,
    name: `history-${nuid.next()}`,
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(at + clockError).toISOString(),
  });
  await jsm.consumers.delete(recordStream, name);
  return delivered.stream_seq + 1;
}

/** What is known of a stream. */
interface StreamFacts {
  readonly created: string;
  readonly lastSequence: number;
  /** Sequence of the first message that was stored after the time of the position; unknown if absent. */
  readonly firstLater?: number | undefined;
}

/**
 * Where to begin. A stream that was restored keeps the time of its creation, but ends before the position, or has in its
 * place what was stored later.
 */
export function startOf(
  { created, lastSequence, firstLater = Number.POSITIVE_INFINITY }: StreamFacts,
  after: StreamPosition | undefined,
): StreamPosition {
  if (after === undefined) return { created, sequence: 0, at: 0, base: 0 };
  if (after.created === created && after.sequence <= lastSequence && after.sequence < firstLater) return after;
  return { created, sequence: 0, at: after.at, base: after.base + after.sequence };
}
