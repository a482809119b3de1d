/** Most spellings of header names that are remembered; a bound, as clients choose them. */
const mostSpellings = 2_000;

/**
 * Tells what a header is from its name in any spelling. Common spellings cost one look-up; a name that equals a known
 * one after `_` became `-` is of kind `twin`.
 */
export class HeaderKinds<K extends number> {
  readonly #known: ReadonlyMap<string, K>;
  readonly #spellings = new Map<string, K>();
  readonly #other: (lowerName: string) => K;
  readonly #twin: K;

  /** `known` by lower-case name; `other` decides about lower-case names that are not in it. */
  constructor(known: ReadonlyMap<string, K>, options: { readonly twin: K; readonly other: (lowerName: string) => K }) {
    this.#known = known;
    this.#twin = options.twin;
    this.#other = options.other;
  }

  /** The kind of the header named `name`. */
  of(name: string): K {
    return this.#spellings.get(name) ?? this.#learn(name);
  }

  #learn(name: string): K {
    const lowerName = name.toLowerCase();
    const dashed = lowerName.replaceAll("_", "-");
    const isTwin = dashed !== lowerName && this.#known.has(dashed);
    const kind = isTwin ? this.#twin : (this.#known.get(lowerName) ?? this.#other(lowerName));
    if (this.#spellings.size < mostSpellings) this.#spellings.set(name, kind);
    return kind;
  }
}
