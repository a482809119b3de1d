import { usageError } from "../../cli-error.ts";

/** Labels or annotations. */
export type KeyValues = Readonly<Record<string, string>>;

/**
 * Reads `key=value` pairs of an option; of a key that is given twice the last one counts.
 * @throws CliError when one has no `=`
 */
export function readKeyValues(option: string, pairs: readonly string[]): KeyValues {
  return Object.fromEntries(
    pairs.map((pair) => {
      const mark = pair.indexOf("=");
      if (mark < 1) throw usageError(`Cannot use ${option} "${pair}": it must be key=value`);
      return [pair.slice(0, mark), pair.slice(mark + 1)];
    }),
  );
}

/** `present` with the pairs of `set`, and without those of `removed`. */
export function changedKeyValues(present: KeyValues, set: KeyValues, removed: readonly string[]): KeyValues {
  return Object.fromEntries(Object.entries({ ...present, ...set }).filter(([key]) => !removed.includes(key)));
}
