import type { ManagedFields } from "./kubernetes-requests.ts";
import { isMapping, valueAt, type Properties, type PropertyPath } from "./property-values.ts";

/**
 * The current inputs: where the live object differs from the stored one, they have the live value. Where the API server
 * only spells a value differently, they keep the program's spelling.
 */
export function liveInputs(inputs: Properties, stored: Properties, live: Properties): Properties {
  return driftOf(inputs, stored, live, []) as Properties;
}

function driftOf(input: unknown, stored: unknown, live: unknown, path: PropertyPath): unknown {
  if (isMapping(input) && isMapping(live)) {
    return Object.fromEntries(
      Object.entries(input).flatMap(([key, value]) => {
        const [before, now] = [valueAt(stored, [key]), live[key]];
        if (now === undefined) return before === undefined ? [[key, value]] : [];
        return [[key, driftOf(value, before, now, [...path, key])]];
      }),
    );
  }
  if (Array.isArray(input) && Array.isArray(live) && input.length === live.length) {
    return input.map((value, index) => driftOf(value, valueAt(stored, [index]), live[index], [...path, index]));
  }
  return isSame(stored, live) ? input : live;
}

function isSame(one: unknown, other: unknown): boolean {
  if (isMapping(one) && isMapping(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].every((key) => isSame(one[key], other[key]));
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((each, index) => isSame(each, other[index]));
  }
  return one === other;
}

/**
 * What to apply if others may change the fields at `ignored` (`spec.replicas`): fields of another manager are omitted,
 * so that they stay its own; our fields keep their live value.
 */
export function withoutIgnored(
  object: Properties,
  ignored: readonly string[],
  live: { readonly metadata: { readonly managedFields?: readonly ManagedFields[] } },
  manager: string,
): Properties {
  let applied: unknown = object;
  for (const path of ignored.map((each) => each.split("."))) {
    const others = (live.metadata.managedFields ?? []).filter((fields) => fields.manager !== manager);
    const isTheirs = others.some(
      ({ fieldsV1 }) =>
        valueAt(
          fieldsV1,
          path.map((part) => `f:${part}`),
        ) !== undefined,
    );
    applied = changedAt(applied, path, isTheirs ? undefined : valueAt(live, path));
  }
  return applied as Properties;
}

function changedAt(object: unknown, [part, ...rest]: readonly string[], value: unknown): unknown {
  if (!isMapping(object) || part === undefined || !(part in object)) return object;
  return { ...object, [part]: rest.length === 0 ? value : changedAt(object[part], rest, value) };
}
