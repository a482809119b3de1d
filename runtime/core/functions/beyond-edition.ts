import { editions, type Edition } from "../../api/editions.ts";
import { defaultQueue } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { SeenFunction } from "./function-facts.ts";
import { formatRef } from "./function-ref.ts";

/**
 * Functions that were deployed in a larger edition and need more than this one allows (contract §1.5), sorted by name:
 * a queue or a namespace other than the default one. Each as `report.functions (queue "reports")`.
 */
export function beyondEdition(
  functions: Iterable<SeenFunction>,
  edition: Edition,
  defaultNamespace: string,
): readonly string[] {
  const { queues, namespaces } = editions[edition];
  const found: string[] = [];
  for (const { wanted, facts } of functions) {
    const queue = facts.limits instanceof PlatformError ? defaultQueue : facts.limits.queue;
    const needs = [
      ...(namespaces === "one" && wanted.namespace !== defaultNamespace ? [`namespace "${wanted.namespace}"`] : []),
      ...(queues === "default" && queue !== defaultQueue ? [`queue "${queue}"`] : []),
    ];
    if (needs.length > 0) found.push(`${formatRef(wanted)} (${needs.join(" and ")})`);
  }
  return found.sort();
}
