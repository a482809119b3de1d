import type { PutOutcome } from "../../../core/ports/call-queue.ts";
import type { CallbackQueue, QueuedCallback } from "../../../core/ports/callback-queue.ts";
import { messageHeader } from "./call-message.ts";
import { formatCallback } from "./callback-message.ts";
import { publishDurably } from "../link/durable-publish.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { putOutcome } from "../link/put-outcome.ts";
import { callbackStream, callbackSubject } from "../stream-names.ts";

/** Callbacks in the stream `CB`. Each refers to its output in the ledger; after a redrive it carries the output. */
export class NatsCallbackQueue implements CallbackQueue {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async put(callback: QueuedCallback, until: number): Promise<PutOutcome> {
    const headers = formatCallback(callback);
    headers.add(messageHeader.id, `cb-${callback.id}-${callback.redrives}`);
    headers.add(messageHeader.expectedStream, callbackStream);
    const subject = callbackSubject(callback.queue, callback.function);
    const body = callback.output?.body ?? new Uint8Array(0);
    const outcome = await publishDurably(this.#link, subject, body, headers, until);
    return putOutcome(outcome, this.#link.state.kind);
  }
}
