import { parseCallId } from "../../../api/grammar.ts";
import type { CallSignals } from "../../../core/ports/call-signals.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { signalSubject } from "../stream-names.ts";

/** Call ids on NATS core subjects; nothing is stored. */
export class NatsCallSignals implements CallSignals {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  cancelled(id: string): void {
    this.#publish(signalSubject.cancelled, id);
  }

  ended(id: string): void {
    this.#publish(signalSubject.ended, id);
  }

  onCancelled(listener: (id: string) => void): () => void {
    return this.#subscribe(signalSubject.cancelled, listener);
  }

  onEnded(listener: (id: string) => void): () => void {
    return this.#subscribe(signalSubject.ended, listener);
  }

  #publish(subject: string, id: string): void {
    // A lost signal only costs time: waiting processes also poll.
    this.#link.publish(subject, id);
  }

  #subscribe(subject: string, listener: (id: string) => void): () => void {
    return this.#link.subscribe(subject, (message) => {
      const id = parseCallId(message.string());
      if (id !== undefined) listener(id);
    });
  }
}
