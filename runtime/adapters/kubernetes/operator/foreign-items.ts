/**
 * A merge patch (RFC 7396) that takes out of `actual` the items that others added to lists of `wanted`, such as
 * containers, variables and volumes; undefined when there are none. Keys that `wanted` does not name stay.
 */
export function withoutForeignItems(actual: unknown, wanted: object): object | undefined {
  const found = fieldsOf(actual);
  const patches = Object.entries(wanted).flatMap(([key, value]): [string, unknown][] => {
    const there = found.get(key);
    if (Array.isArray(value)) return holdsMore(there, value) ? [[key, value]] : [];
    if (!isObject(value)) return [];
    const inside = withoutForeignItems(there, value);
    return inside === undefined ? [] : [[key, inside]];
  });
  return patches.length === 0 ? undefined : Object.fromEntries(patches);
}

/** Whether a list has more items than are wanted, or one of its items has in its own lists. */
function holdsMore(actual: unknown, wanted: readonly unknown[]): boolean {
  if (!Array.isArray(actual)) return false;
  if (actual.length > wanted.length) return true;
  return wanted.some((item, at) => isObject(item) && withoutForeignItems(actual[at], item) !== undefined);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : []);
}
