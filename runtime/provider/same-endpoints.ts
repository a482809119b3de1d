import type { Condition } from "../api/schemas/function-status.ts";
import type { FunctionEndpoints } from "../core/ports/endpoints.ts";

/** Whether publishing `a` after `b` would change nothing; the order of addresses does not count. */
export function sameEndpoints(a: FunctionEndpoints, b: FunctionEndpoints): boolean {
  return (
    a.observedGeneration === b.observedGeneration &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every((address) => b.addresses.includes(address) && a.names?.[address] === b.names?.[address]) &&
    a.conditions.length === b.conditions.length &&
    a.conditions.every((condition, index) => sameCondition(condition, b.conditions[index]))
  );
}

function sameCondition(a: Condition, b: Condition | undefined): boolean {
  return a.type === b?.type && a.status === b.status && a.reason === b.reason && a.message === b.message;
}
