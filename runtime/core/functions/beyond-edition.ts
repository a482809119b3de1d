import { editions, type Edition } from "../../api/editions.ts";
import { defaultQueue } from "../../api/names.ts";
import { limitsIn, type SeenFunction } from "./function-facts.ts";
import { formatRef } from "./function-ref.ts";

/**
 * The functions that were deployed in a larger edition and ask for more than this one allows (contract §1.5), sorted by
 * name: a queue of their own, or a namespace beside the default one. Each as `report.functions (queue "reports")`.
 */
export function beyondEdition(
  functions: Iterable<SeenFunction>,
  edition: Edition,
  defaultNamespace: string,
): readonly string[] {
  const { queues, namespaces } = editions[edition];
  const found: string[] = [];
  for (const { wanted, facts } of functions) {
    const { queue } = limitsIn(facts);
    const asks = [
      ...(namespaces === "one" && wanted.namespace !== defaultNamespace ? [`namespace "${wanted.namespace}"`] : []),
      ...(queues === "default" && queue !== defaultQueue ? [`queue "${queue}"`] : []),
    ];
    if (asks.length > 0) found.push(`${formatRef(wanted)} (${asks.join(" and ")})`);
  }
  return found.sort();
}
