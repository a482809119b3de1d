import { PlatformError } from "../../../../api/platform-error.ts";
import { isLabelKey, isLabelValue } from "../../../../core/labels/label-syntax.ts";
import { quote } from "../../../../core/quote.ts";
import type { Affinity, NodeSelectorRequirement, NodeSelectorTerm } from "../object-types.ts";

/**
 * Affinity of a function's pods: `constraints` (`key=value`, `key==value`) apply to every node that the Profiles allow,
 * and replace what the Profiles say of the same node labels. Undefined when there is none.
 * @throws PlatformError `validation_failed` for a constraint that is not a node label
 */
export function podAffinity(constraints: readonly string[], profile: Affinity | undefined): Affinity | undefined {
  const own = constraints.map(parseConstraint);
  if (own.length === 0) return profile;
  const keys = new Set(own.map(({ key }) => key));
  const allowed = profile?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const terms = allowed.map(({ matchExpressions = [], ...term }): NodeSelectorTerm => {
    return { ...term, matchExpressions: [...matchExpressions.filter(({ key }) => !keys.has(key)), ...own] };
  });
  return {
    ...profile,
    nodeAffinity: {
      ...profile?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
    },
  };
}

function parseConstraint(text: string): NodeSelectorRequirement {
  const [, key = "", value = ""] = /^\s*([^=\s]+)\s*==?\s*([^=\s]+)\s*$/.exec(text) ?? [];
  if (isLabelKey(key) && isLabelValue(value)) return { key, operator: "In", values: [value] };
  throw new PlatformError(
    "validation_failed",
    `Cannot place pods by constraint ${quote(text)}: expected key=value, both in the syntax of Kubernetes labels`,
  );
}
