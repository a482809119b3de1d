/** An entry of `metadata.managedFields`: who wrote which fields, and how. */
interface FieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

/**
 * The entries as they would be if `manager` had written all its fields by server-side apply; undefined when that is so
 * already. Created or patched fields stay when they are no longer applied, whereas applied ones are removed.
 */
export function asApplied(entries: readonly FieldsEntry[], manager: string): readonly FieldsEntry[] | undefined {
  const isOurs = (entry: FieldsEntry): boolean => entry.manager === manager && (entry.subresource ?? "") === "";
  const ours = entries.filter(isOurs);
  const [first] = ours;
  if (first === undefined || ours.every(({ operation }) => operation === "Apply")) return undefined;
  const fieldsV1 = ours.reduce<object>((all, entry) => union(all, entry.fieldsV1 ?? {}), {});
  return [{ ...first, operation: "Apply", fieldsV1 }, ...entries.filter((entry) => !isOurs(entry))];
}

/** Sets of fields are objects of objects. */
function union(a: object, b: object): object {
  const all = new Map<string, unknown>(Object.entries(a));
  for (const [key, value] of Object.entries(b)) {
    const known = all.get(key);
    all.set(key, isSet(known) && isSet(value) ? union(known, value) : value);
  }
  return Object.fromEntries(all);
}

function isSet(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
