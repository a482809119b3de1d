import { isSettled, problemOf, type Problem } from "../core/functions/conditions.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { Log } from "../process/log.ts";

const sentences = { stalled: "function is stalled", "not-ready": "function is not ready" } as const;

interface Logged {
  readonly generation: number;
  readonly kinds: Set<Problem["kind"]>;
}

/**
 * Logs what keeps a function from being ready, with the message of its condition, whether an older deployment serves or
 * not: each kind of problem once per deployment, and again after all replicas were ready.
 */
export function warnNotReady(table: FunctionTable, log: Log): void {
  const logged = new Map<string, Logged>();
  table.onReplicas(({ key, ref, endpoints }) => {
    if (endpoints === undefined || isSettled(endpoints.conditions)) {
      logged.delete(key);
      return;
    }
    const problem = problemOf(endpoints.conditions);
    if (problem === undefined) return;
    const generation = endpoints.observedGeneration;
    const before = logged.get(key);
    const { kinds } = before?.generation === generation ? before : { kinds: new Set<Problem["kind"]>() };
    if (kinds.has(problem.kind)) return;
    logged.set(key, { generation, kinds: kinds.add(problem.kind) });
    const { name: functionName, namespace } = ref;
    const { reason, message: detail } = problem;
    const ready = endpoints.addresses.length;
    log.warn({ functionName, namespace, generation, reason, ready, detail }, sentences[problem.kind]);
  });
  table.onRemoved(({ key }) => logged.delete(key));
}
