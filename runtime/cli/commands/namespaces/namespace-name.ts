import { grammarRule, isNamespaceName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";

/**
 * Checks a namespace's name before it becomes a part of a path; `act` completes the sentence
 * `Cannot <act> namespace "…"`.
 * @throws CliError when no namespace can have it
 */
export function checkedNamespace(name: string, act: string): string {
  if (isNamespaceName(name)) return name;
  throw usageError(`Cannot ${act} namespace "${name}": ${grammarRule.namespace}`);
}
