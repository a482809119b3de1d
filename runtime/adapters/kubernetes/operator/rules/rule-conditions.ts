import { iamSubject } from "../../../../api/iam/iam-document.ts";
import type { IamKind } from "../../../../api/iam/iam-schemas.ts";
import type { RuleSet } from "../../../../core/access/rule-set.ts";
import type { ConditionStatement } from "../write-conditions.ts";

/** What the rules say of the objects of one kind, by name. */
export interface RuleVerdicts {
  /** What is wrong, as sentences. */
  readonly faults: ReadonlyMap<string, string>;
  /** Objects that the rules hold, if only in part. */
  readonly included: ReadonlySet<string>;
  /** Roles that only report. */
  readonly reporting: ReadonlySet<string>;
}

/** As long as a condition may be. */
const maxMessage = 32_768;

/** See {@link RuleVerdicts}; `names` are those of all objects of the kind. */
export function ruleVerdicts(kind: IamKind, names: Iterable<string>, rules: RuleSet): RuleVerdicts {
  const bySubject = Map.groupBy(rules.faults, ({ subject }) => subject);
  const faults = new Map<string, string>();
  for (const name of names) {
    const found = bySubject.get(iamSubject(kind, name));
    if (found !== undefined) faults.set(name, found.map(({ sentence }) => asSentence(sentence)).join(" "));
  }
  const reporting = kind === "Role" ? rules.roles.filter(({ mode }) => mode === "report") : [];
  return {
    faults,
    included: new Set(namesIn(kind, rules)),
    reporting: new Set(reporting.map(({ name }) => name)),
  };
}

/**
 * The conditions of an object; `isEnforced` is whether the edition acts on rules at all, `keysFault` why the keys of an
 * issuer cannot be read.
 */
export function ruleConditions(
  kind: IamKind,
  name: string,
  { faults, included, reporting }: RuleVerdicts,
  isEnforced: boolean,
  keysFault?: string,
): ConditionStatement[] {
  const fault = faults.get(name)?.slice(0, maxMessage);
  const isAccepted = included.has(name);
  const accepted = isAccepted
    ? isTrue("Accepted", "Accepted", `The ${kind} can be used`)
    : isFalse("Accepted", "Refused", fault ?? "It is left out");
  const enforced = enforcement();
  const ready = (): ConditionStatement => {
    if (!isAccepted) return { ...accepted, type: "Ready" };
    if (!isEnforced) return { ...enforced, type: "Ready" };
    if (fault !== undefined) return isFalse("Ready", "Incomplete", fault);
    if (keysFault !== undefined) return isFalse("Ready", "KeysUnavailable", keysFault);
    return isTrue("Ready", enforced.reason, enforced.message);
  };
  return [accepted, enforced, ready()];

  function enforcement(): ConditionStatement {
    if (!isEnforced) {
      const message = `This edition has no identity and access: objects of kind ${kind} are checked and kept, and have no effect`;
      return isFalse("Enforced", "NotEnforced", message);
    }
    if (!isAccepted) return isFalse("Enforced", "Refused", `The ${kind} cannot be used`);
    if (reporting.has(name)) {
      return isFalse("Enforced", "ReportOnly", "It allows nothing: what it would have allowed is logged");
    }
    return isTrue("Enforced", "Enforced", "The platform acts on it");
  }
}

function namesIn(kind: IamKind, { issuers, policies, roles }: RuleSet): string[] {
  switch (kind) {
    case "JwtIssuer":
      return Array.from(issuers.values(), ({ name }) => name);
    case "Policy":
      return [...policies.keys()];
    case "Role":
      return roles.map(({ name }) => name);
    default:
      return kind satisfies never;
  }
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function isTrue(type: string, reason: string, message: string): ConditionStatement {
  return { type, status: "True", reason, message };
}

function isFalse(type: string, reason: string, message: string): ConditionStatement {
  return { type, status: "False", reason, message };
}
