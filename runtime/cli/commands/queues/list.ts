import { formatDuration } from "../../../api/duration.ts";
import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { readList } from "../../client/read-reply.ts";
import { queueReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import type { Column } from "../../output/format-table.ts";

/** `weir queues list`. */
export const listQueues: CommandSpec = {
  about: "Lists the queues with what is in them, and why calls wait.",
  groups: ["gateway", "output"],
  examples: [
    { line: "weir queues list", about: "Every queue of the gateway" },
    { line: "weir queues list -o json", about: "The same for a program" },
  ],
  run: async (context) => {
    const gateway = await context.gateway();
    const rows = await readList(gateway, "/system/queues", queueReply);
    await context.output.list({ rows, columns, name: ({ name }) => name });
  },
};

/** Age of the oldest call in a queue, in its largest units; empty when there is none. */
export function oldestText(seconds: number): string {
  if (seconds <= 0) return "";
  return seconds < 1 ? "<1s" : formatDuration(Math.floor(seconds) * 1_000);
}

const columns: readonly Column<QueueStatus>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "QUEUED", cell: ({ queued }) => String(queued), align: "right" },
  { title: "WAITING", cell: ({ waiting }) => String(waiting), align: "right" },
  { title: "RUNNING", cell: ({ running }) => String(running), align: "right" },
  { title: "DEAD LETTERS", cell: ({ deadLetters }) => String(deadLetters), align: "right" },
  { title: "WORKERS", cell: ({ workers }) => String(workers), align: "right" },
  { title: "OLDEST", cell: ({ oldestAgeSeconds }) => oldestText(oldestAgeSeconds), align: "right" },
  { title: "WHY", cell: ({ why = "" }) => why },
];
