/** Short names of members in stored JSON. A member without one keeps its name, so later releases' members survive. */
export class ShortNames {
  readonly #short: ReadonlyMap<string, string>;
  readonly #long: ReadonlyMap<string, string>;

  constructor(names: Readonly<Record<string, string>>) {
    this.#short = new Map(Object.entries(names));
    this.#long = new Map(Object.entries(names).map(([long, short]) => [short, long]));
  }

  /** Leaves out members that are undefined, and those that are as in `implied`. */
  shorten(value: object, implied: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const members = value as Readonly<Record<string, unknown>>;
    const short: Record<string, unknown> = {};
    // Entries would be an object for each member of each call.
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (member !== undefined && !isSame(member, implied[name])) short[this.#short.get(name) ?? name] = member;
    }
    return short;
  }

  lengthen(short: object, implied: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const value: Record<string, unknown> = { ...implied };
    for (const [name, member] of Object.entries(short)) value[this.#long.get(name) ?? name] = member;
    return value;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && Array.isArray(other) && one.length === 0 && other.length === 0);
}
