import { isSettled, troubleOf, type Trouble } from "../core/functions/conditions.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { Log } from "../process/log.ts";

const sentences = { stalled: "function is stalled", "not-ready": "function is not ready" } as const;

interface Told {
  readonly generation: number;
  readonly kinds: Set<Trouble["kind"]>;
}

/**
 * Logs what keeps a function from being ready, in the words of its condition, whether an older deployment serves or not:
 * each kind of it once per deployment, and again after all replicas were ready.
 */
export function warnNotReady(table: FunctionTable, log: Log): void {
  const told = new Map<string, Told>();
  table.onReplicas(({ key, ref, endpoints }) => {
    if (endpoints === undefined || isSettled(endpoints.conditions)) {
      told.delete(key);
      return;
    }
    const trouble = troubleOf(endpoints.conditions);
    if (trouble === undefined) return;
    const generation = endpoints.observedGeneration;
    const before = told.get(key);
    const { kinds } = before?.generation === generation ? before : { kinds: new Set<Trouble["kind"]>() };
    if (kinds.has(trouble.kind)) return;
    told.set(key, { generation, kinds: kinds.add(trouble.kind) });
    const { name: functionName, namespace } = ref;
    const { reason, message: why } = trouble;
    const ready = endpoints.addresses.length;
    log.warn({ functionName, namespace, generation, reason, ready, why }, sentences[trouble.kind]);
  });
  table.onRemoved(({ key }) => told.delete(key));
}
