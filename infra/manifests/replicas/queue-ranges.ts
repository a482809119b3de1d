import { isMapping } from "../../../runtime/settings/mapping.ts";
import { readPodCount, type ReplicaRange } from "./replica-range.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** The queues of a stack, and those whose workers an autoscaler counts. */
export interface RangedQueues {
  /** As the queue-doctor reads them: with the most workers in the place of a range. */
  readonly queues: unknown;
  /** By the name of the queue. */
  readonly ranges: ReadonlyMap<string, ReplicaRange>;
  readonly problems: readonly string[];
}

const mostWorkers = 1_000;

/** Reads `replicas: {min, max}` of queues: what the broker admits in flight is that of the most workers. */
export function readQueueRanges(queues: unknown): RangedQueues {
  const ranges = new Map<string, ReplicaRange>();
  const problems: string[] = [];
  if (!isMapping(queues)) return { queues, ranges, problems };
  const plain = Object.entries(queues).map(([name, entry]) => {
    if (!isMapping(entry) || !isMapping(entry["replicas"])) return [name, entry] as const;
    const range = readPodCount(entry["replicas"], mostWorkers);
    if (typeof range !== "object")
      problems.push(`queues.${name}.replicas: expected min and max, 1 to ${mostWorkers}, and cpu in percent`);
    else ranges.set(name, range);
    return [name, { ...entry, replicas: typeof range === "object" ? range.max : 1 } satisfies Mapping] as const;
  });
  return { queues: Object.fromEntries(plain), ranges, problems };
}
