/** Where a tab keeps it: gone with the tab. */
const storedAs = "weir-session";
/** What an issuer's sign-in leads back to. */
const mark = "#session=";

/** The half of a session that the page sends along, in memory and for reloads of this tab. */
export class SessionHalf {
  readonly #store: Storage;
  #half: string | undefined;

  constructor(store: Storage) {
    this.#store = store;
    this.#half = store.getItem(storedAs) ?? undefined;
  }

  get value(): string | undefined {
    return this.#half;
  }

  keep(half: string): void {
    this.#half = half;
    this.#store.setItem(storedAs, half);
  }

  drop(): void {
    this.#half = undefined;
    this.#store.removeItem(storedAs);
  }

  /** Takes it from the address that an issuer's sign-in leads to, and removes it there. */
  takeFrom(location: Pick<Location, "hash" | "pathname" | "search">, history: Pick<History, "replaceState">): void {
    if (!location.hash.startsWith(mark)) return;
    this.keep(location.hash.slice(mark.length));
    history.replaceState(undefined, "", `${location.pathname}${location.search}`);
  }
}
