import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { readOne } from "../../client/read-reply.ts";
import { queueReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { formatFields } from "../../output/format-fields.ts";
import { oldestText } from "./list.ts";
import { checkedQueue } from "./queue-name.ts";

/** `weir queues show`. */
export const showQueueStatus: CommandSpec = {
  about: "Shows a queue: what is in it, its limits, and why calls wait.",
  arguments: [{ name: "<name>", about: "name of the queue", completes: "queue" }],
  groups: ["gateway", "output"],
  examples: [{ line: "weir queues show default", about: "The queue that every platform has" }],
  run: async (context, _options, [text = ""]) => {
    const name = checkedQueue(text, "show");
    const gateway = await context.gateway();
    const queue = await readOne(gateway, `/system/queue/${name}`, queueReply);
    await context.output.value(queue, { text: () => queueText(queue), name });
  },
};

/** A queue for people. */
export function queueText(queue: QueueStatus): string {
  const { ackWait, deadLetters, limit, maxInflight, name, oldestAgeSeconds, queued } = queue;
  return formatFields([
    ["queue", name],
    ["queued", `${queued} of at most ${limit}`],
    ["waiting", `${queue.waiting} for a retry`],
    ["running", String(queue.running)],
    ["oldest", oldestText(oldestAgeSeconds)],
    ["dead letters", String(deadLetters)],
    ["workers", `${queue.workers}, each runs ${maxInflight} at once`],
    ["timeout", `${queue.timeout} a run`],
    ["lease", ackWait],
    ["why", queue.why],
  ]);
}
