import type { OwnedFields } from "../client/kube-types.ts";

/** Fields of an object that one manager owns, in the form of `fieldsV1`. */
export type FieldSet = Readonly<Record<string, unknown>>;

/** Entries of `metadata.managedFields` by which managers other than `manager` own fields of an object's spec. */
export function foreignEntries(entries: readonly OwnedFields[] | undefined, manager: string): readonly OwnedFields[] {
  return (entries ?? []).filter(
    (entry) =>
      entry.manager !== manager && (entry.subresource ?? "") === "" && entry.fieldsV1?.["f:spec"] !== undefined,
  );
}

/** The fields of an object's spec in those entries, one set per entry. */
export function foreignFields(entries: readonly OwnedFields[] | undefined, manager: string): readonly FieldSet[] {
  return foreignEntries(entries, manager).map(({ fieldsV1 = {} }) => ({ "f:spec": fieldsV1["f:spec"] }));
}

/** Whether one of the sets has the field. */
export function owns(sets: readonly FieldSet[], field: string): boolean {
  return sets.some((set) => `f:${field}` in set);
}

/** The sets inside the field; none inside `metadata`, as any writer may add labels and annotations. */
export function inField(sets: readonly FieldSet[], field: string): readonly FieldSet[] {
  return field === "metadata" ? [] : sets.flatMap((set) => fieldSet(set[`f:${field}`]));
}

/** The sets inside an item of a list, which is identified by some of its fields: `k:{"name":"x"}`. */
export function inItem(sets: readonly FieldSet[], item: object): readonly FieldSet[] {
  return sets.flatMap((set) =>
    Object.entries(set).flatMap(([key, inside]) =>
      key.startsWith("k:") && isNamedBy(item, JSON.parse(key.slice(2)) as object) ? fieldSet(inside) : [],
    ),
  );
}

/** An identifying field that the item leaves out has the API server's default, so it counts as equal. */
function isNamedBy(item: object, name: object): boolean {
  const fields = new Map<string, unknown>(Object.entries(item));
  return Object.entries(name).every(([key, value]) => !fields.has(key) || fields.get(key) === value);
}

function fieldSet(value: unknown): FieldSet[] {
  return typeof value === "object" && value !== null ? [value as FieldSet] : [];
}
