import { isDeepStrictEqual } from "node:util";

import { isMapping } from "../../runtime/settings/mapping.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** A field of an object that somebody else set to another value than the platform wants. */
export interface FieldConflict {
  /** Kind and name: `Deployment "gateway"`. */
  readonly object: string;
  readonly namespace: string;
  /** Path of the field: `spec.replicas`. */
  readonly field: string;
  /** Who set it, in the terms of server-side apply. */
  readonly manager: string;
  /** What it is in the cluster. */
  readonly live: unknown;
}

/** Managers of the provider: each resource has one with a suffix of its own. */
const ours = /^pulumi-kubernetes(?:-|$)/;

/**
 * The fields of which the API server would say that there is a conflict: another manager owns them, and their value is
 * another one. `live` has `metadata.managedFields`; a text with one of `open` becomes known only later.
 */
export function decideConflicts(
  wanted: KubernetesObject,
  live: Mapping,
  open: (text: string) => boolean = () => false,
): FieldConflict[] {
  const { metadata, kind } = wanted;
  const managed = isMapping(live["metadata"]) ? live["metadata"]["managedFields"] : undefined;
  const object = { object: `${kind} "${metadata.name}"`, namespace: metadata.namespace ?? "" };
  const found = new Map<string, FieldConflict>();
  for (const entry of Array.isArray(managed) ? managed.filter(isMapping) : []) {
    const manager = String(entry["manager"]);
    if (ours.test(manager) || entry["subresource"] === "status") continue;
    for (const { path, desired, actual } of ownedValues(entry["fieldsV1"], wanted, live)) {
      const isOpen = typeof desired === "string" && open(desired);
      if (desired === undefined || isOpen || isSame(desired, actual)) continue;
      found.set(path, { ...object, field: path, manager, live: actual });
    }
  }
  return [...found.values()];
}

interface OwnedValue {
  readonly path: string;
  readonly desired: unknown;
  readonly actual: unknown;
}

/** The values of an owned set of fields, as wanted and as they are: `f:spec`, `k:{"name":"x"}`, `v:"x"`. */
function* ownedValues(fields: unknown, desired: unknown, actual: unknown, path = ""): Generator<OwnedValue> {
  const inner = Object.entries(isMapping(fields) ? fields : {}).filter(([key]) => key !== ".");
  if (inner.length === 0) {
    if (path !== "") yield { path, desired, actual };
    return;
  }
  for (const [key, below] of inner) {
    const [kind, name] = [key.slice(0, 2), key.slice(2)];
    if (kind === "f:") yield* ownedValues(below, fieldOf(desired, name), fieldOf(actual, name), joined(path, name));
    else if (kind === "k:") {
      const keys: unknown = JSON.parse(name);
      const [item, other] = [itemOf(desired, keys), itemOf(actual, keys)];
      // An item that is not wanted is an addition.
      if (item !== undefined) yield* ownedValues(below, item, other, `${path}[${name}]`);
    }
  }
}

function joined(path: string, name: string): string {
  if (!/^[A-Za-z]\w*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function fieldOf(value: unknown, name: string): unknown {
  return isMapping(value) ? value[name] : undefined;
}

/** The item of a list that has these keys; one that an item leaves out has its default. */
function itemOf(list: unknown, keys: unknown): unknown {
  if (!Array.isArray(list) || !isMapping(keys)) return undefined;
  return list.find(
    (item) =>
      isMapping(item) &&
      Object.entries(keys).every(([key, value]) => item[key] === undefined || item[key] === value) &&
      Object.keys(keys).some((key) => item[key] !== undefined),
  );
}

/** Also of amounts: the API server writes `0.5` as `500m`. */
function isSame(desired: unknown, actual: unknown): boolean {
  if (isDeepStrictEqual(plain(desired), plain(actual))) return true;
  const [first, second] = [amountOf(desired), amountOf(actual)];
  return first !== undefined && first === second;
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function amountOf(value: unknown): number | undefined {
  const [, number, milli] = /^(\d+(?:\.\d+)?)(m?)$/.exec(String(value)) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (milli === "m" ? 1 : 1_000));
}
