import { grammarRule, isQueueName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";

/**
 * Checks a queue's name before it becomes a part of a path; `act` completes the sentence `Cannot <act> queue "…"`.
 * @throws CliError when no queue can have it
 */
export function checkedQueue(name: string, act: string): string {
  if (isQueueName(name)) return name;
  throw usageError(`Cannot ${act} queue "${name}": a name has ${grammarRule.queue}`);
}
