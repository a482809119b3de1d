import type { FunctionRef } from "../functions/function-ref.ts";

/** A function that has a log now. */
export interface LoggedFunction extends FunctionRef {
  /** How many of its replicas run. */
  readonly replicas: number;
}

/** Which functions a log source has something new of. */
export interface LoggedFunctions {
  /** Functions that have a replica, or had one until a moment ago. Rejects when that is not known. */
  active(): Promise<readonly LoggedFunction[]>;
}
