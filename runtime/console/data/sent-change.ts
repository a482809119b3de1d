import { signal, type ReadonlySignal } from "@preact/signals";

/** A change that the gateway took. */
export interface SentChange {
  /** What was sent: `Scale hello to 3 replicas`. */
  readonly what: string;
  /** The `weir` command that does the same. */
  readonly command: string;
  /** Where it can be watched, if it is elsewhere. */
  readonly href?: string;
}

/** The last change, which the page shows until it is put away or another one comes. */
export class SentChanges {
  readonly #last = signal<SentChange | undefined>(undefined);
  #pages = 0;

  get last(): ReadonlySignal<SentChange | undefined> {
    return this.#last;
  }

  say(change: SentChange): void {
    this.#pages = 0;
    this.#last.value = change;
  }

  /** Another page was opened: the note stays on the first one, which may show what was changed. */
  turnPage(): void {
    if (++this.#pages > 1) this.putAway();
  }

  putAway(): void {
    this.#last.value = undefined;
  }
}
