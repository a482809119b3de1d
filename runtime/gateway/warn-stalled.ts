import type { FunctionTable } from "../core/function-table.ts";
import type { Log } from "../process/log.ts";

/** Logs each function that begins to be stalled, once, in the words of its condition, whether an older deployment serves or not. */
export function warnStalled(table: FunctionTable, log: Log): void {
  const stalled = new Set<string>();
  table.onReplicas(({ key, ref, endpoints }) => {
    const condition = endpoints?.conditions.find(({ type }) => type === "Stalled");
    if (condition?.status !== "True") {
      stalled.delete(key);
      return;
    }
    if (stalled.has(key)) return;
    stalled.add(key);
    const { reason, message: why } = condition;
    const { name: functionName, namespace } = ref;
    const ready = endpoints?.addresses.length ?? 0;
    log.warn(
      { functionName, namespace, generation: endpoints?.observedGeneration, reason, ready, why },
      "function is stalled",
    );
  });
  table.onRemoved(({ key }) => stalled.delete(key));
}
