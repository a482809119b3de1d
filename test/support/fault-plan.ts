import { seededRandom } from "../../scripts/random.ts";

/** What may go wrong with one use of a port. */
export type PortFault =
  /** Nothing is done, and nobody says so. */
  | { readonly kind: "timed-out" }
  /** It is done, and the answer is lost. */
  | { readonly kind: "answer-lost" }
  /** Surely nothing is done. */
  | { readonly kind: "unavailable" }
  /** Done after so many milliseconds. */
  | { readonly kind: "delayed"; readonly by: number }
  /** This process ends by SIGKILL, before or after the thing is done. */
  | { readonly kind: "kill-before" }
  | { readonly kind: "kill-after" };

/** When a fault happens: at the `nth` use (1 = first) of the operation, or with a probability at each. */
export type FaultRule = {
  /** As the decorators name it, e.g. `CallQueue.put`, or the first words of that; `*` = any. */
  readonly operation: string;
  readonly fault: PortFault;
  /** Only at uses for this call; any when absent. */
  readonly call?: string;
} & ({ readonly nth: number } | { readonly probability: number });

/** Decides, repeatably for one seed and one order of uses, which uses go wrong. */
export interface FaultPlan {
  /** To be printed when a test fails. */
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
      // Every matching rule is asked, so that what one decides does not shift the count or the chance of another.
      const found = matching.filter(applies)[0];
      if (found !== undefined) happened.push(`${operation} ${found.fault.kind}`);
      return found?.fault;
    },
  };
}
