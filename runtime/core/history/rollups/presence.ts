import type { FunctionRef } from "../../functions/function-ref.ts";
import { formatRef } from "../../functions/function-ref.ts";

/**
 * Stands for no function: in an interval of its rollups, some process counted calls. A function that was there and has
 * no rollup then had no call.
 */
export const presence: FunctionRef = { namespace: "", name: "" };

/** Whether rollups are of a function, and not of `presence`. */
export function isFunction(ref: FunctionRef): boolean {
  return formatRef(ref) !== formatRef(presence);
}
