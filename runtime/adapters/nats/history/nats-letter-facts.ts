import { DeliverPolicy } from "@nats-io/jetstream";
import { nuid } from "@nats-io/transport-node";

import type { DeadLetterFacts } from "../../../core/ports/dead-letters.ts";
import type { LetterFacts } from "../../../core/ports/letter-facts.ts";
import { isApiError, streamNotFound } from "../link/api-errors.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { headerMap } from "../queues/call-message.ts";
import { parseDeadLetter } from "../queues/dead-letter-message.ts";
import { deadLetterStream } from "../stream-names.ts";
import { lightConsumer } from "./record-consumer.ts";
import { RecordTail, type TailMessage } from "./record-tail.ts";

const reading = { maxBatch: 500, gatherFor: 200, expiry: 5_000 };

/** The headers of the dead letters in stream `DLQ`, by a consumer that lasts as long as they are read. */
export class NatsLetterFacts implements LetterFacts {
  readonly #link: NatsLink;
  readonly #inboxPrefix: string;

  constructor(link: NatsLink, inboxPrefix: string) {
    this.#link = link;
    this.#inboxPrefix = inboxPrefix;
  }

  async *all(signal: AbortSignal): AsyncGenerator<readonly DeadLetterFacts[], void> {
    const consumer = await this.#consume();
    if (consumer === undefined) return;
    const place = { link: this.#link, stream: deadLetterStream, consumer: consumer.name };
    const tail = new RecordTail({ ...place, inboxPrefix: this.#inboxPrefix, ...reading });
    try {
      for (let left = consumer.pending; left > 0;) {
        const read = await tail.read(signal);
        if (signal.aborted || read.kind === "level") return;
        if (read.kind === "lost") throw new Error("Cannot read dead letters: the broker was away");
        left -= read.messages.length;
        yield read.messages.flatMap((each) => factsIn(each) ?? []);
      }
    } finally {
      await tail.close();
      if (this.#link.downFor() === 0)
        await this.#link.jsm.consumers.delete(deadLetterStream, consumer.name).catch(() => {});
    }
  }

  /** Undefined when there is no such stream, as before the first dead letter of a new broker. */
  async #consume(): Promise<{ readonly name: string; readonly pending: number } | undefined> {
    try {
      const { name, num_pending: pending } = await this.#link.jsm.consumers.add(deadLetterStream, {
        ...lightConsumer,
        name: `history-${nuid.next()}`,
        deliver_policy: DeliverPolicy.All,
        headers_only: true,
        max_waiting: 8,
      });
      return { name, pending };
    } catch (err) {
      if (isApiError(err, streamNotFound)) return undefined;
      throw err;
    }
  }
}

function factsIn({ message, facts }: TailMessage): DeadLetterFacts | undefined {
  const { subject, headers, data: body } = message;
  const { sequence, storedAt: time } = facts;
  return parseDeadLetter({ subject, sequence, time, headers: headerMap(headers), body });
}
