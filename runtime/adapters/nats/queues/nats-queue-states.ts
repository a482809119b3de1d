import { PlatformError } from "../../../api/platform-error.ts";
import { formatRef } from "../../../core/functions/function-ref.ts";
import type { QueueDepths, QueueState, QueueStates } from "../../../core/ports/queue-states.ts";
import { consumerNotFound, streamNotFound } from "../link/api-errors.ts";
import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { parseQueueSubject, queueStream, workersConsumer } from "../stream-names.ts";

/** Reply of `STREAM.INFO` (NATS JetStream API), as far as it is read here. */
interface StreamReply extends ErrorReply {
  readonly total?: number;
  readonly ts?: string;
  readonly state?: {
    readonly messages: number;
    readonly first_seq: number;
    readonly last_seq: number;
    readonly first_ts: string;
    readonly last_ts: string;
    readonly subjects?: Readonly<Record<string, number>>;
  };
}

/** Reply of `CONSUMER.INFO`, likewise. */
interface ConsumerReply extends ErrorReply {
  readonly num_pending?: number;
  readonly num_ack_pending?: number;
  readonly delivered?: { readonly stream_seq: number };
}

interface ErrorReply {
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** Reads the stream of a queue and the consumer that its workers share. */
export class NatsQueueStates implements QueueStates {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async read(queue: string): Promise<QueueState | undefined> {
    const [stream, consumer] = await Promise.all([
      this.#stream(queue),
      this.#ask<ConsumerReply>(`CONSUMER.INFO.${queueStream(queue)}.${workersConsumer}`, ""),
    ]);
    if (stream?.state === undefined) return undefined;
    const { messages, first_seq, last_seq, first_ts, last_ts } = stream.state;
    if (consumer.error !== undefined && consumer.error.err_code !== consumerNotFound) throw notReported(consumer.error);
    return {
      fresh: consumer.num_pending ?? messages,
      onLoan: consumer.num_ack_pending ?? 0,
      first: messages === 0 ? 0 : first_seq,
      last: messages === 0 ? 0 : last_seq,
      firstAt: messages === 0 ? undefined : Date.parse(first_ts),
      lastAt: messages === 0 ? undefined : Date.parse(last_ts),
      delivered: consumer.delivered?.stream_seq ?? 0,
      now: stream.ts === undefined ? Date.now() : Date.parse(stream.ts),
    };
  }

  async depths(queue: string): Promise<QueueDepths> {
    const byFunction = new Map<string, number>();
    let submitted = 0;
    for (let offset = 0; ;) {
      const reply = await this.#stream(queue, { subjects_filter: ">", offset });
      if (reply?.state === undefined) return { byFunction, submitted };
      submitted = reply.state.last_seq;
      const subjects = Object.entries(reply.state.subjects ?? {});
      for (const [subject, calls] of subjects) {
        const ref = parseQueueSubject(subject);
        if (ref !== undefined) byFunction.set(formatRef(ref), calls);
      }
      offset += subjects.length;
      if (subjects.length === 0 || offset >= (reply.total ?? 0)) return { byFunction, submitted };
    }
  }

  /** Undefined when the stream does not exist. */
  async #stream(queue: string, request?: unknown): Promise<StreamReply | undefined> {
    const text = request === undefined ? "" : JSON.stringify(request);
    const reply = await this.#ask<StreamReply>(`STREAM.INFO.${queueStream(queue)}`, text);
    if (reply.error === undefined) return reply;
    if (reply.error.err_code === streamNotFound) return undefined;
    throw notReported(reply.error);
  }

  async #ask<T extends ErrorReply>(what: string, request: string): Promise<T> {
    try {
      const reply = await this.#link.request(`$JS.API.${what}`, request, { timeout: requestTimeout });
      return reply.json<T>();
    } catch (cause) {
      throw notReported(cause);
    }
  }
}

function notReported(cause: unknown): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    "Cannot read the queue's state: the broker did not report it; try again",
    {
      cause,
      retryAfterSeconds: 1,
    },
  );
}
