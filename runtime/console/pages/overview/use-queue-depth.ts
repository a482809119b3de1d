import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import type { QueuesEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../../data/console-context.ts";
import { useTopic } from "../../data/stream/use-topic.ts";

/** Calls that wait or run in all queues together; undefined = not known. */
export function useQueueDepth(): ReadonlySignal<number | undefined> {
  const { requests, session } = useConsole();
  const depth = useSignal<number | undefined>(undefined);
  const depths = useMemo(() => new Map<string, number>(), []);
  const take = ({ begin, queues, removed }: Pick<QueuesEvent, "begin" | "queues" | "removed">): void => {
    if (begin) depths.clear();
    for (const name of removed) depths.delete(name);
    for (const queue of queues) depths.set(queue.name, depthOf(queue));
    depth.value = [...depths.values()].reduce((sum, one) => sum + one, 0);
  };
  useTopic(session.may("Queue:List") ? "queues" : undefined, {
    event: (_name, data) => take(data as QueuesEvent),
    poll: async (signal) => {
      const queues = await requests.get<QueueStatus[]>("/system/queues", { signal });
      take({ begin: true, queues, removed: [] });
    },
  });
  return depth;
}

function depthOf({ queued, waiting, running }: QueueStatus): number {
  return queued + waiting + running;
}
