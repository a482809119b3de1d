import { editionNames, editions, type Edition } from "../../api/editions.ts";
import { defaultQueue } from "../../api/names.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";

/** What determines how the queues of this platform are changed. */
export interface QueuePlace {
  readonly edition: Edition;
  /** A machine is configured by flags and a settings file, a cluster by its stack. */
  readonly home: "machine" | "cluster";
}

/** How to let the queue-workers of a queue run more calls at once here; a clause, not a whole sentence. */
export function moreSlots(
  { name, maxInflight }: Pick<QueueDeclaration, "name" | "maxInflight">,
  { edition, home }: QueuePlace,
): string {
  const more = maxInflight * 2;
  if (editions[edition].maxInflight !== "custom") {
    const needed = editionNames.find((other) => editions[other].maxInflight === "custom") ?? "pro";
    const change =
      home === "machine"
        ? `start Weir with --edition ${needed} --max-inflight ${more}`
        : `set weir:edition to ${needed} and weir:maxInflight to ${more} in the stack`;
    return `edition "${edition}" runs no more at once; ${change}`;
  }
  if (name === defaultQueue) {
    return home === "machine"
      ? `start Weir with --max-inflight ${more} (now ${maxInflight})`
      : `set weir:maxInflight to ${more} in the stack (now ${maxInflight})`;
  }
  const file =
    home === "machine"
      ? `queues.${name}.max_inflight in the settings file`
      : `max_inflight of "${name}" in weir:queues of the stack`;
  return `raise ${file} (now ${maxInflight})`;
}
