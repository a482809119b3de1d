/** Parts that are opened one after another, each with the initial values and those of the parts before it. */
export class PartsInOrder<Given extends object> {
  /** Resolves with all values once the last part is open; rejects with the error of the first that fails to open. */
  readonly opened: Promise<Given>;

  constructor(given: Given | Promise<Given>) {
    this.opened = Promise.resolve(given);
  }

  /** Adds a part, which registers its own close. A part that needs a value of no earlier part does not compile. */
  with<Gives extends object>(open: (given: Given) => Promise<Gives>): PartsInOrder<Given & Gives> {
    return new PartsInOrder(this.opened.then(async (given) => ({ ...given, ...(await open(given)) })));
  }
}
