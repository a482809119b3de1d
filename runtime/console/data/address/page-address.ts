import { signal, type ReadonlySignal } from "@preact/signals";

/** Where the page is. */
export interface PagePlace {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Without the mark; names a line or a part of the page. */
  readonly part: string;
  /** How many other pages were opened before; a filter that changes does not count. */
  readonly visit: number;
}

/** What is kept with an entry of the browser's history. */
interface EntryState {
  readonly scroll: number;
}

/** Browsers count changes of the history, and asking where it is scrolled to costs a layout; milliseconds. */
const scrollPause = 250;

export interface PageAddressParts {
  readonly window: Pick<Window, "addEventListener" | "scrollY" | "scrollTo" | "document"> & {
    readonly location: Location;
    readonly history: History;
  };
}

/** The address: what narrows a page is in it, so that a link shows the same, and back and forward bring it back. */
export class PageAddress {
  readonly #window: PageAddressParts["window"];
  readonly #place;
  #settling: ReturnType<typeof setTimeout> | undefined;
  /** Where the page that came back was scrolled to; undefined = it is a new one. */
  #scrollTo: number | undefined;

  constructor({ window }: PageAddressParts) {
    this.#window = window;
    this.#place = signal<PagePlace>(placeOf(window.location, 0));
    window.history.scrollRestoration = "manual";
    this.#scrollTo = (window.history.state as EntryState | null)?.scroll;
    window.addEventListener("popstate", (event) => {
      // The entry that was left is not the current one any more.
      clearTimeout(this.#settling);
      this.#scrollTo = (event.state as EntryState | null)?.scroll ?? 0;
      this.#move();
    });
    window.addEventListener("scrollend", () => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => this.#keepScroll(), scrollPause);
    });
    window.addEventListener("pagehide", () => this.#keepScroll());
  }

  get place(): ReadonlySignal<PagePlace> {
    return this.#place;
  }

  /** Opens a page of the console, as a link does. */
  go(target: string): void {
    this.#keepScroll();
    this.#scrollTo = undefined;
    this.#window.history.pushState({ scroll: 0 }, "", target);
    this.#move();
  }

  /** Changes what narrows the page, without a new entry of the history; an empty or missing value leaves it out. */
  narrow(values: Readonly<Record<string, string | undefined>>): void {
    const { path, query, part } = this.#place.peek();
    const changed = new URLSearchParams(query);
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === "") changed.delete(name);
      else changed.set(name, value);
    }
    const text = changed.toString();
    const target = `${path}${text === "" ? "" : `?${text}`}${part === "" ? "" : `#${part}`}`;
    this.#window.history.replaceState(this.#window.history.state, "", target);
    this.#move();
  }

  /**
   * Where to scroll to once the page of `path` is high enough; undefined = to its begin. Counts once, and for the page of
   * the address alone: one that was left before it could be shown does not get what the next one was scrolled to.
   */
  takeScroll(path: string): number | undefined {
    if (path !== this.#place.peek().path) return undefined;
    const scroll = this.#scrollTo;
    this.#scrollTo = undefined;
    return scroll;
  }

  #keepScroll(): void {
    clearTimeout(this.#settling);
    const state: EntryState = { scroll: Math.round(this.#window.scrollY) };
    this.#window.history.replaceState(state, "");
  }

  #move(): void {
    const before = this.#place.peek();
    const next = placeOf(this.#window.location, before.visit);
    this.#place.value = next.path === before.path ? next : { ...next, visit: before.visit + 1 };
  }
}

function placeOf({ pathname, search, hash }: Location, visit: number): PagePlace {
  return { path: pathname, query: new URLSearchParams(search), part: hash.slice(1), visit };
}
