/** Most spellings of header names that are cached; bounded, because clients choose them. */
const maxSpellings = 2_000;

/**
 * Classifies headers by name, in any spelling. Cached spellings cost one look-up; a name that equals a known one after
 * `_` is replaced by `-` is of kind `twin`.
 */
export class HeaderKinds<K extends number> {
  readonly #known: ReadonlyMap<string, K>;
  readonly #spellings = new Map<string, K>();
  readonly #other: (lowerName: string) => K;
  readonly #twin: K;

  /** `known` is keyed by lower-case name; `other` classifies lower-case names that are not in it. */
  constructor(known: ReadonlyMap<string, K>, options: { readonly twin: K; readonly other: (lowerName: string) => K }) {
    this.#known = known;
    this.#twin = options.twin;
    this.#other = options.other;
  }

  /** The kind of the header named `name`. */
  of(name: string): K {
    return this.#spellings.get(name) ?? this.#classify(name);
  }

  #classify(name: string): K {
    const lowerName = name.toLowerCase();
    const dashed = lowerName.replaceAll("_", "-");
    const isTwin = dashed !== lowerName && this.#known.has(dashed);
    const kind = isTwin ? this.#twin : (this.#known.get(lowerName) ?? this.#other(lowerName));
    if (this.#spellings.size < maxSpellings) this.#spellings.set(name, kind);
    return kind;
  }
}
