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

  onCancelled(heard: (id: string) => void): () => void {
    return this.#subscribe(signalSubject.cancelled, heard);
  }

  onEnded(heard: (id: string) => void): () => void {
    return this.#subscribe(signalSubject.ended, heard);
  }

  #publish(subject: string, id: string): void {
    // Lost signals cost time only: who waits looks by itself.
    this.#link.publish(subject, id);
  }

  #subscribe(subject: string, heard: (id: string) => void): () => void {
    return this.#link.subscribe(subject, (message) => {
      const id = parseCallId(message.string());
      if (id !== undefined) heard(id);
    });
  }
}
