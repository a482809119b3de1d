import { inField, inItem, owns, type FieldSet } from "./foreign-fields.ts";

/**
 * A merge patch (RFC 7396) that removes from `actual` what others added to `wanted`: items of lists, such as
 * containers, variables and volumes, and fields that are theirs by `foreign`; undefined when there is nothing to
 * remove. Other keys that `wanted` does not name stay: they were set by the API server or a webhook.
 */
export function withoutForeignItems(
  actual: unknown,
  wanted: object,
  foreign: readonly FieldSet[] = [],
): object | undefined {
  const found = fieldsOf(actual);
  const named = new Set(Object.keys(wanted));
  const theirs = [...found.keys()].filter((key) => !named.has(key) && owns(foreign, key));
  const patches = Object.entries(wanted).flatMap(([key, value]): [string, unknown][] => {
    const [there, inside] = [found.get(key), inField(foreign, key)];
    if (Array.isArray(value)) return holdsMore(there, value, inside) ? [[key, value]] : [];
    if (!isObject(value)) return [];
    const patch = withoutForeignItems(there, value, inside);
    return patch === undefined ? [] : [[key, patch]];
  });
  const all = [...theirs.map((key) => [key, null] as const), ...patches];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** Whether a list has more items than wanted, or one of its items holds more than wanted. */
function holdsMore(actual: unknown, wanted: readonly unknown[], foreign: readonly FieldSet[]): boolean {
  if (!Array.isArray(actual)) return false;
  if (actual.length > wanted.length) return true;
  return wanted.some(
    (item, at) => isObject(item) && withoutForeignItems(actual[at], item, inItem(foreign, item)) !== undefined,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : []);
}
