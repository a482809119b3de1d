import type { Activity, ActivityListener, ActivityReport } from "../../../core/ports/activity.ts";
import type { NatsLink } from "../link/nats-link.ts";

const prefix = "activity.";

/** Activity reports on NATS core subjects `activity.<source>`; nothing is stored. */
export class NatsActivity implements Activity {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  publish({ source, ...said }: ActivityReport): void {
    // What is late is of no use.
    if (this.#link.downFor() > 0) return;
    this.#link.publish(prefix + source, JSON.stringify(said));
  }

  subscribe(heard: ActivityListener, except?: string): () => void {
    const unheard = except === undefined ? undefined : prefix + except;
    return this.#link.subscribe(`${prefix}*`, (message) => {
      // Known by its subject: a report of many functions takes time to read.
      if (message.subject === unheard) return;
      try {
        const said = message.json<Omit<ActivityReport, "source">>();
        heard({ source: message.subject.slice(prefix.length), ...said });
      } catch {
        // A report that cannot be read is a report that was lost: its number tells.
      }
    });
  }
}
