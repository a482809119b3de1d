import { useComputed, useSignal, type ReadonlySignal } from "@preact/signals";

import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import type { QueuesEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded, type Loaded } from "../../data/requests/use-loaded.ts";
import { useTopic } from "../../data/stream/use-topic.ts";

export interface UsedQueues {
  readonly state: ReadonlySignal<Loaded<readonly QueueStatus[]>>;
  /** Why changes do not come, as the stream says it. */
  readonly fault: ReadonlySignal<string | undefined>;
  readonly reload: () => void;
}

/** All queues, sorted by name, kept current. */
export function useQueues(): UsedQueues {
  const { requests, session } = useConsole();
  const loaded = useLoaded("queues", (signal) =>
    requests.get<readonly QueueStatus[]>("/system/queues", { signal, act: "read the queues" }),
  );
  const told = useSignal<{ readonly queues: readonly QueueStatus[]; readonly at: number } | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const state = useComputed((): Loaded<readonly QueueStatus[]> => {
    const read = loaded.state.value;
    const live = told.value;
    return live === undefined || live.at < read.readAt
      ? read
      : { value: live.queues, readAt: live.at, failure: undefined, since: undefined };
  });
  useTopic(session.may("Queue:List") ? "queues" : undefined, {
    event: (_name, data) => {
      fault.value = undefined;
      const event = data as QueuesEvent;
      const before = event.begin ? [] : (state.peek().value ?? []);
      told.value = { queues: withChanges(before, event), at: Date.now() };
    },
    fault: (_code, sentence) => void (fault.value = sentence),
    poll: async () => loaded.reload(),
  });
  return { state, fault, reload: loaded.reload };
}

/** The queues after an event, sorted by name. */
export function withChanges(
  before: readonly QueueStatus[],
  { queues, removed }: Pick<QueuesEvent, "queues" | "removed">,
): readonly QueueStatus[] {
  const byName = new Map(before.map((queue) => [queue.name, queue]));
  for (const queue of queues) byName.set(queue.name, queue);
  for (const name of removed) byName.delete(name);
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
