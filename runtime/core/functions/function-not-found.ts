import { nearestName } from "../../api/closest-name.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { FunctionRef } from "./function-ref.ts";

/** Names of the functions of a namespace. */
export type NamesOf = (namespace: string) => Iterable<string>;

/** A function does not exist. Clients that may list functions get the nearest name, see `withNearestName`. */
export class FunctionNotFound extends PlatformError {
  readonly ref: FunctionRef;

  constructor(ref: FunctionRef, near?: string) {
    const meant = near === undefined ? "" : `; did you mean "${near}"?`;
    super(
      "function_not_found",
      `Cannot find function "${ref.name}": it does not exist in namespace "${ref.namespace}"${meant}`,
    );
    this.ref = ref;
  }
}

/** The error for a function that does not exist. */
export function functionNotFound(ref: FunctionRef): PlatformError {
  return new FunctionNotFound(ref);
}

/** `err`, with the nearest name of the namespace added if it is about a function that does not exist. */
export function withNearestName(err: unknown, namesOf: NamesOf): unknown {
  if (!(err instanceof FunctionNotFound)) return err;
  const near = nearestName(err.ref.name, namesOf(err.ref.namespace));
  return near === undefined ? err : new FunctionNotFound(err.ref, near);
}
