import type { QueuedCall } from "../../../core/calls/call.ts";
import type { CallQueue, PutOutcome } from "../../../core/ports/call-queue.ts";
import { formatCall } from "./call-message.ts";
import { publishDurably } from "../link/durable-publish.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { putOutcome } from "../link/put-outcome.ts";
import { queueStream, queueSubject } from "../stream-names.ts";

/** Queued calls as messages of one JetStream stream per queue. */
export class NatsCallQueue implements CallQueue {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  get isReplicated(): boolean {
    return this.#link.isCluster;
  }

  async put(call: QueuedCall, until: number, redrives = 0, isAbandoned?: () => boolean): Promise<PutOutcome> {
    const messageId = redrives === 0 ? call.id : `${call.id}.${redrives}`;
    const headers = formatCall(call, messageId, queueStream(call.queue));
    const subject = queueSubject(call.queue, call.function);
    const outcome = await publishDurably(this.#link, subject, call.body, headers, until, isAbandoned);
    return putOutcome(outcome, this.#link.state.kind);
  }
}
