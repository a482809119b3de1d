import { seededRandom } from "../../scripts/random.ts";

/** A fault of one use of a port. */
export type PortFault =
  /** Not done, and the caller cannot know. */
  | { readonly kind: "timed-out" }
  /** Done, but the response is lost. */
  | { readonly kind: "answer-lost" }
  /** Not done, and the caller knows. */
  | { readonly kind: "unavailable" }
  /** Done after `by` milliseconds. */
  | { readonly kind: "delayed"; readonly by: number }
  /** This process ends by SIGKILL, before or after the operation. */
  | { readonly kind: "kill-before" }
  | { readonly kind: "kill-after" };

/** When a fault happens: at the `nth` use (1 = first) of the operation, or with a probability at each. */
export type FaultRule = {
  /** A name that the decorators use, e.g. `CallQueue.put`, or its first words; `*` = any. */
  readonly operation: string;
  readonly fault: PortFault;
  /** Limits the rule to uses for this call. */
  readonly call?: string;
} & ({ readonly nth: number } | { readonly probability: number });

/** Decides which uses fail; the same seed and order of uses give the same faults. */
export interface FaultPlan {
  /** Printed when a test fails. */
  readonly seed: number;
  /** Faults so far, as `operation kind`, in order. */
  readonly happened: readonly string[];
  /** `call` is the id of the call that the use is for. */
  decide(operation: string, call?: string): PortFault | undefined;
}

/** The first rule that applies to a use wins. */
export function faultPlan(rules: readonly FaultRule[], seed = Math.floor(Math.random() * 2 ** 32)): FaultPlan {
  const chance = seededRandom(seed);
  const uses = new Map<FaultRule, number>();
  const happened: string[] = [];
  const applies = (rule: FaultRule): boolean => {
    if ("probability" in rule) return chance() < rule.probability;
    const use = (uses.get(rule) ?? 0) + 1;
    uses.set(rule, use);
    return use === rule.nth;
  };
  return {
    seed,
    happened,
    decide: (operation, call) => {
      const matching = rules.filter(
        (rule) =>
          (rule.operation === "*" || `${operation} `.startsWith(`${rule.operation} `)) &&
          (rule.call === undefined || rule.call === call),
      );
      // Every matching rule is evaluated, so that no rule shifts another's count or random numbers.
      const found = matching.filter(applies)[0];
      if (found !== undefined) happened.push(`${operation} ${found.fault.kind}`);
      return found?.fault;
    },
  };
}
