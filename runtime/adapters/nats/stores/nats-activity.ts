import type { Activity, ActivityListener, ActivityReport } from "../../../core/ports/activity.ts";
import type { NatsLink } from "../link/nats-link.ts";

const prefix = "activity.";

/** Activity reports on NATS core subjects `activity.<source>`; nothing is stored. */
export class NatsActivity implements Activity {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  publish({ source, ...report }: ActivityReport): void {
    // A late report is of no use.
    if (this.#link.downFor() > 0) return;
    this.#link.publish(prefix + source, JSON.stringify(report));
  }

  subscribe(listener: ActivityListener, except?: string): () => void {
    const ignored = except === undefined ? undefined : prefix + except;
    return this.#link.subscribe(`${prefix}*`, (message) => {
      // Compared by subject: a report of many functions takes time to parse.
      if (message.subject === ignored) return;
      try {
        const report = message.json<Omit<ActivityReport, "source">>();
        listener({ source: message.subject.slice(prefix.length), ...report });
      } catch {
        // An unreadable report counts as lost: the gap in the report numbers shows it.
      }
    });
  }
}
