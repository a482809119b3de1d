import { functionNotFound } from "../../../../core/functions/function-not-found.ts";
import { formatRef, type FunctionRef } from "../../../../core/functions/function-ref.ts";
import type { CallHistory } from "../../../../core/ports/call-history.ts";
import type { FunctionStore } from "../../../../core/ports/function-store.ts";

/**
 * Returns if each of these functions is deployed, or was while the history keeps something of it.
 * @throws PlatformError `function_not_found` otherwise
 */
export async function requireKnown(
  refs: readonly FunctionRef[],
  functions: Pick<FunctionStore, "get">,
  reads: Pick<CallHistory, "functions">,
): Promise<void> {
  const deployed = await Promise.all(refs.map((ref) => functions.get(ref)));
  const others = refs.filter((_, index) => deployed[index] === undefined);
  if (others.length === 0) return;
  const known = new Set((await reads.functions()).map(formatRef));
  const unknown = others.find((ref) => !known.has(formatRef(ref)));
  if (unknown !== undefined) throw functionNotFound(unknown);
}
