import { headers as newHeaders } from "@nats-io/transport-node";

import { PlatformError } from "../../api/platform-error.ts";
import type { DeadLetter, DeadLetters } from "../../core/ports/dead-letters.ts";
import { messageHeader } from "./call-message.ts";
import { payloadTooLarge, publishDurably } from "./durable-publish.ts";
import type { NatsLink } from "./nats-link.ts";
import { deadLetterStream, deadLetterSubject } from "./stream-names.ts";

const budget = 3_000;
/** Headers of the original that are kept; any other, or one the broker would not take, is not ours. */
const ownHeader = /^(?:weir|x)-[!-9;-~]+$/i;

/** Dead letters in the stream `DLQ`: the original message and what became of it. */
export class NatsDeadLetters implements DeadLetters {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async put(letter: DeadLetter): Promise<void> {
    const headers = newHeaders();
    for (const [name, value] of letter.headers) if (ownHeader.test(name)) headers.set(name, value);
    const prefix = letter.kind === "call" ? "dlq" : "dlq-cb";
    headers.set(messageHeader.id, `${prefix}-${letter.id}-${letter.redrives}`);
    headers.set(messageHeader.expectedStream, deadLetterStream);
    headers.set("Weir-Queue", letter.queue);
    if (letter.function !== undefined) {
      headers.set(messageHeader.function, letter.function.name);
      headers.set(messageHeader.namespace, letter.function.namespace);
    }
    headers.set("Weir-Dead-Reason", letter.reason);
    headers.set("Weir-Dead-Attempts", String(letter.attempts));
    if (letter.lastStatus !== undefined) headers.set("Weir-Dead-Status", String(letter.lastStatus));
    headers.set("Weir-Dead-Accepted", String(letter.acceptedAt));
    headers.set("Weir-Dead-At", String(letter.deadAt));
    headers.set("Weir-Dead-Redrives", String(letter.redrives));
    const subject = deadLetterSubject(letter.queue, letter.id, letter.kind);
    let outcome = await publishDurably(this.#link, subject, letter.body, headers, performance.now() + budget);
    if (outcome.kind === "refused" && outcome.refusal.code === payloadTooLarge) {
      // What came without limits must not stay in the queue for ever because it cannot be kept whole.
      headers.set("Weir-Dead-Truncated", "true");
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
}
