import type { RuleSet } from "../access/rule-set.ts";

/** Where JwtIssuers, Policies and Roles come from. */
export interface AccessRules {
  /**
   * Calls `observe` with the rules in force, then again after every change. Resolves after the first call; the returned
   * function ends the watch. Rejects with a PlatformError when the rules cannot be read at all, e.g. because others may
   * write them.
   */
  watch(observe: (rules: RuleSet) => void): Promise<() => void>;
  /**
   * Notes where people see it whether the keys of an issuer of this name could be read; `fault` says why not. Absent where
   * rules have no such place.
   */
  reportKeys?(issuer: string, fault: string | undefined): Promise<void>;
}
