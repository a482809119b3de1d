/** A snapshot that exists. */
export interface KnownSnapshot {
  readonly name: string;
  /** Unix milliseconds. */
  readonly lastUsedAt: number;
}

/** Snapshots that are kept although no deployment needs them: going back to one of them copies and prepares nothing. */
const spare = 3;

/** The snapshots to remove: all but those that are `needed`, and of the others the three that were used last. */
export function unneededSnapshots(known: readonly KnownSnapshot[], needed: ReadonlySet<string>): readonly string[] {
  return known
    .filter(({ name }) => !needed.has(name))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt)
    .slice(spare)
    .map(({ name }) => name);
}
