import { signal, type ReadonlySignal } from "@preact/signals";

/** Where the time zone is kept. */
const storedAs = "weir-time-zone";

/** The time as the page shows it: one tick a second for all of it, and none while nobody looks. */
export class PageClock {
  readonly #now;
  readonly #zone;
  readonly #store: Storage;

  constructor(store: Storage, visible: ReadonlySignal<boolean>, now: () => number = Date.now) {
    this.#store = store;
    this.#now = signal(now());
    this.#zone = signal(knownZone(store.getItem(storedAs)));
    let timer: ReturnType<typeof setInterval> | undefined;
    visible.subscribe((isVisible) => {
      clearInterval(timer);
      if (!isVisible) return;
      this.#now.value = now();
      timer = setInterval(() => (this.#now.value = now()), 1_000);
    });
  }

  /** Milliseconds since 1970. */
  get now(): ReadonlySignal<number> {
    return this.#now;
  }

  /** The zone that times are shown in; undefined = the browser's. */
  get zone(): ReadonlySignal<string | undefined> {
    return this.#zone;
  }

  showIn(zone: string | undefined): void {
    this.#zone.value = knownZone(zone ?? null);
    if (this.#zone.value === undefined) this.#store.removeItem(storedAs);
    else this.#store.setItem(storedAs, this.#zone.value);
  }
}

function knownZone(zone: string | null): string | undefined {
  if (zone === null) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
