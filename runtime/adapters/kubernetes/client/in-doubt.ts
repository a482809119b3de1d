import type { KubeObject } from "./kube-types.ts";

/** By how much the API server's clock may be behind ours; milliseconds. */
const clockDifference = 60_000;

/**
 * Whether everything in `wanted` is in `actual` with the same value; the API server adds fields to what it is sent.
 * `resourceVersion` is not compared, as every change makes a new one.
 */
export function holdsAll(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((item, index) => holdsAll(actual[index], item));
  }
  if (typeof wanted !== "object" || wanted === null) return actual === wanted;
  if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return false;
  const found = new Map(Object.entries(actual));
  return Object.entries(wanted).every(
    ([key, value]) => key === "resourceVersion" || value === undefined || holdsAll(found.get(key), value),
  );
}

/**
 * Whether `actual` was made by a `create` whose response was lost: it holds what was sent, and did not exist when that
 * request began, at `since` by our clock.
 */
export function isMadeByUs(actual: KubeObject, sent: KubeObject, since: number): boolean {
  const madeAt = Date.parse(actual.metadata.creationTimestamp ?? "");
  return madeAt >= since - clockDifference && holdsAll(actual, sent);
}
