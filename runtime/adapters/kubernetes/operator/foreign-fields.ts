import type { OwnedFields } from "../client/kube-types.ts";

/** Fields of an object that somebody owns, as `fieldsV1` has them. */
export type FieldSet = Readonly<Record<string, unknown>>;

/** Entries of `metadata.managedFields` by which anybody but `manager` owns something of an object's description. */
export function foreignEntries(entries: readonly OwnedFields[] | undefined, manager: string): readonly OwnedFields[] {
  return (entries ?? []).filter(
    (entry) =>
      entry.manager !== manager && (entry.subresource ?? "") === "" && entry.fieldsV1?.["f:spec"] !== undefined,
  );
}

/** What of an object's description those own, each by itself. */
export function foreignFields(entries: readonly OwnedFields[] | undefined, manager: string): readonly FieldSet[] {
  return foreignEntries(entries, manager).map(({ fieldsV1 = {} }) => ({ "f:spec": fieldsV1["f:spec"] }));
}

/** Whether one of them owns the field. */
export function owns(sets: readonly FieldSet[], field: string): boolean {
  return sets.some((set) => `f:${field}` in set);
}

/** What they own inside the field; labels and annotations are for everybody. */
export function inField(sets: readonly FieldSet[], field: string): readonly FieldSet[] {
  return field === "metadata" ? [] : sets.flatMap((set) => fieldSet(set[`f:${field}`]));
}

/** What they own inside an item of a list, which is named by some of its fields: `k:{"name":"x"}`. */
export function inItem(sets: readonly FieldSet[], item: object): readonly FieldSet[] {
  return sets.flatMap((set) =>
    Object.entries(set).flatMap(([key, inside]) =>
      key.startsWith("k:") && isNamedBy(item, JSON.parse(key.slice(2)) as object) ? fieldSet(inside) : [],
    ),
  );
}

/** A field of the name that the item does not say has the API server's own value. */
function isNamedBy(item: object, name: object): boolean {
  const fields = new Map<string, unknown>(Object.entries(item));
  return Object.entries(name).every(([key, value]) => !fields.has(key) || fields.get(key) === value);
}

function fieldSet(value: unknown): FieldSet[] {
  return typeof value === "object" && value !== null ? [value as FieldSet] : [];
}
