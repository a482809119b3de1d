import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionEndpoints } from "../../../core/ports/endpoints.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import { desiredOf } from "../manifests/function-object.ts";
import { endpointsOf } from "../manifests/status/function-status.ts";
import type { NamespacedWatch } from "../watch/namespaced-watch.ts";

/** What is kept of a Function object. */
export interface CachedFunction {
  /** Distinguishes it from an earlier object of the same name. */
  readonly uid: string | undefined;
  /** Undefined while the object is being deleted. */
  readonly desired: DesiredFunction | undefined;
  /** What the operator last reported, without addresses; undefined before its first report. */
  readonly reported: FunctionEndpoints | undefined;
}

/** Function objects, as their watch keeps them. */
export type FunctionWatch = NamespacedWatch<FunctionObject, CachedFunction>;

/** The part of a Function object that readers of functions and endpoints need. */
export function cacheFunction(object: FunctionObject): CachedFunction {
  return {
    uid: object.metadata.uid,
    desired: isThere(object) ? desiredOf(object) : undefined,
    reported: object.status?.observedGeneration === undefined ? undefined : endpointsOf(object, []),
  };
}

/** A function that is being deleted is no longer desired. */
export function isThere({ metadata }: FunctionObject): boolean {
  return metadata.deletionTimestamp === undefined;
}
