import { headers as newHeaders } from "@nats-io/transport-node";

import { PlatformError } from "../../../api/platform-error.ts";
import type {
  DeadLetter,
  DeadLetters,
  DeadLetterStore,
  DeadLetterContent,
  StoredDeadLetter,
} from "../../../core/ports/dead-letters.ts";
import { headerMap, messageHeader } from "./call-message.ts";
import { formatCallback } from "./callback-message.ts";
import { formatLetterFacts, letterContent, parseDeadLetter, truncatedDeadLetter } from "./dead-letter-message.ts";
import { payloadTooLarge, publishDurably } from "../link/durable-publish.ts";
import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { readLast, readNext } from "../link/read-last.ts";
import { deadLetterStream, deadLetterSubject } from "../stream-names.ts";

const budget = 3_000;
/** Headers of the original that are kept; any other is not ours, or would be refused by the broker. */
const ownHeader = /^(?:weir|x)-[!-9;-~]+$/i;
/** A page ends after this many bytes were read: the broker returns dead letters only whole. */
const pageBytes = 16 * 1_048_576;
/** Offset past the last subject: only their number is wanted. */
const pastAll = 1_000_000_000;

/** Dead letters in the stream `DLQ`: the original message and what became of it. */
export class NatsDeadLetters implements DeadLetters, DeadLetterStore {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async put(letter: DeadLetter): Promise<void> {
    const headers = newHeaders();
    const original =
      letter.callback === undefined ? letter.headers : headerMap(formatCallback(letter.callback).decoded());
    for (const [name, value] of original) if (ownHeader.test(name)) headers.set(name, value);
    const prefix = letter.kind === "call" ? "dlq" : "dlq-cb";
    headers.set(messageHeader.id, `${prefix}-${letter.id}-${letter.redrives}`);
    headers.set(messageHeader.expectedStream, deadLetterStream);
    formatLetterFacts(letter, headers);
    const subject = deadLetterSubject(letter.queue, letter.id, letter.kind);
    let outcome = await publishDurably(this.#link, subject, letter.body, headers, performance.now() + budget);
    if (outcome.kind === "refused" && outcome.refusal.code === payloadTooLarge) {
      // An oversized message must not stay in the queue without end because it cannot be kept whole.
      headers.set(truncatedDeadLetter, "true");
      outcome = await publishDurably(this.#link, subject, new Uint8Array(0), headers, performance.now() + budget);
    }
    if (outcome.kind === "stored") return;
    const cause = outcome.kind === "refused" ? new Error(outcome.refusal.description) : outcome.cause;
    throw new PlatformError(
      "queue_unavailable",
      `Cannot keep dead letter "${letter.id}": the broker did not store it`,
      { cause },
    );
  }

  async list(
    queue: string,
    after: number,
    limit: number,
  ): Promise<{ readonly letters: readonly StoredDeadLetter[]; readonly more: boolean }> {
    const letters: StoredDeadLetter[] = [];
    let bytes = 0;
    for (let next = after + 1; ;) {
      const message = await readNext(this.#link, deadLetterStream, `dlq.${queue}.>`, next);
      if (message === undefined) return { letters, more: false };
      if (letters.length >= limit || bytes >= pageBytes) return { letters, more: true };
      next = message.sequence + 1;
      bytes += message.body.byteLength;
      const letter = parseDeadLetter(message);
      if (letter !== undefined) letters.push(letter);
    }
  }

  async find(
    queue: string,
    id: string,
  ): Promise<readonly (StoredDeadLetter & { readonly content: DeadLetterContent })[]> {
    const found: (StoredDeadLetter & { readonly content: DeadLetterContent })[] = [];
    for (const kind of ["call", "callback"] as const) {
      const message = await readLast(this.#link, deadLetterStream, deadLetterSubject(queue, id, kind));
      const letter = message === undefined ? undefined : parseDeadLetter(message);
      if (message !== undefined && letter !== undefined)
        found.push({ ...letter, content: letterContent(letter, message) });
    }
    return found;
  }

  async remove(letter: StoredDeadLetter): Promise<void> {
    const request = JSON.stringify({ seq: letter.position, no_erase: true });
    let cause: unknown;
    try {
      const reply = await this.#link.request(`$JS.API.STREAM.MSG.DELETE.${deadLetterStream}`, request, {
        timeout: requestTimeout,
      });
      if (reply.json<{ readonly success?: boolean }>().success === true) return;
    } catch (err) {
      cause = err;
    }
    // It may be gone already, perhaps by this very request whose reply was lost: only the stream can tell.
    const subject = deadLetterSubject(letter.queue, letter.id, letter.kind);
    const left = await readLast(this.#link, deadLetterStream, subject);
    if (left?.sequence !== letter.position) return;
    throw new PlatformError("queue_unavailable", `Cannot remove dead letter "${letter.id}": the broker still has it`, {
      cause,
      retryAfterSeconds: 1,
    });
  }

  async count(queue: string): Promise<number> {
    const request = JSON.stringify({ subjects_filter: `dlq.${queue}.>`, offset: pastAll });
    let cause: unknown;
    try {
      const reply = await this.#link.request(`$JS.API.STREAM.INFO.${deadLetterStream}`, request, {
        timeout: requestTimeout,
      });
      const { total, error } = reply.json<{ readonly total?: number; readonly error?: unknown }>();
      if (error === undefined) return total ?? 0;
      cause = error;
    } catch (err) {
      cause = err;
    }
    throw new PlatformError("queue_unavailable", "Cannot count dead letters: the broker did not report their number", {
      cause,
      retryAfterSeconds: 1,
    });
  }
}
