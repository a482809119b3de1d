/** Where a tab keeps it: gone with the tab. */
const storedAs = "weir-session";
/** Where a tab keeps that it went to an issuer. */
const begunAs = "weir-login";
/** What an issuer's sign-in leads back to. */
const mark = "#session=";

/** The half of a session that the page sends along, in memory and for reloads of this tab. */
export class SessionHalf {
  readonly #store: Storage;
  #half: string | undefined;
  #refused = false;

  constructor(store: Storage) {
    this.#store = store;
    this.#half = store.getItem(storedAs) ?? undefined;
  }

  get value(): string | undefined {
    return this.#half;
  }

  /** Whether an issuer's sign-in that did not begin in this tab led here, so that its half was not taken. */
  get refused(): boolean {
    return this.#refused;
  }

  keep(half: string): void {
    this.#refused = false;
    this.#half = half;
    this.#store.setItem(storedAs, half);
  }

  drop(): void {
    this.#half = undefined;
    this.#store.removeItem(storedAs);
  }

  /** This tab goes to an issuer. */
  beginLogin(): void {
    this.#store.setItem(begunAs, "1");
  }

  /**
   * Takes it from the address that an issuer's sign-in leads to, and removes it there; not in a tab that went to none: a
   * page of somebody else may set the cookie of its own session and lead here.
   */
  takeFrom(location: Pick<Location, "hash" | "pathname" | "search">, history: Pick<History, "replaceState">): void {
    const { hash, pathname, search } = location;
    if (!hash.startsWith(mark)) return;
    // The page's own location has no hash from here on.
    history.replaceState(undefined, "", `${pathname}${search}`);
    if (this.#store.getItem(begunAs) === null) {
      this.#refused = true;
      return;
    }
    this.#store.removeItem(begunAs);
    this.keep(hash.slice(mark.length));
  }
}
