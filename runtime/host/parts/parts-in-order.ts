/** Parts that are opened one after another, each with what was given at first and what the parts before it gave. */
export class PartsInOrder<Given extends object> {
  /** Resolves with all that was given once the last part is open; rejects as the first that cannot be opened does. */
  readonly opened: Promise<Given>;

  constructor(given: Given | Promise<Given>) {
    this.opened = Promise.resolve(given);
  }

  /** Adds a part, which says itself how it is closed; what it needs and no part before it gives does not compile. */
  with<Gives extends object>(open: (given: Given) => Promise<Gives>): PartsInOrder<Given & Gives> {
    return new PartsInOrder(this.opened.then(async (given) => ({ ...given, ...(await open(given)) })));
  }
}
