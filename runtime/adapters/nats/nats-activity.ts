import type { Activity, ActivityDelta } from "../../core/ports/activity.ts";
import type { NatsLink } from "./nats-link.ts";

const prefix = "activity.";

/** Activity reports on NATS core subjects `activity.<source>`; nothing is stored. */
export class NatsActivity implements Activity {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  publish(source: string, deltas: readonly ActivityDelta[]): void {
    if (this.#link.nc.isClosed() || this.#link.nc.isDraining() || this.#link.downFor() > 0) return;
    this.#link.nc.publish(prefix + source, JSON.stringify(deltas));
  }

  subscribe(heard: (source: string, deltas: readonly ActivityDelta[]) => void): () => void {
    const subscription = this.#link.nc.subscribe(`${prefix}*`, {
      callback: (err, message) => {
        if (err !== null) return;
        try {
          heard(message.subject.slice(prefix.length), message.json<ActivityDelta[]>());
        } catch {
          // A report that cannot be read is a report that was lost: the next one comes in a second.
        }
      },
    });
    return () => subscription.unsubscribe();
  }
}
