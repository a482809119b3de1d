import type { DeadLetterView } from "../../../api/schemas/queue-status.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { ageText } from "../../output/age-text.ts";
import type { Column } from "../../output/format-table.ts";
import { deadLetterOptions, fitsFilter, readFilter, type DeadLetterOptions } from "./dead-letter-filter.ts";
import { checkedQueue } from "./queue-name.ts";
import { readDeadLetters } from "./read-dead-letters.ts";

/** `weir dead-letters list`. */
export const listDeadLetters: CommandSpec<DeadLetterOptions> = {
  about: "Lists the calls and callbacks that were given up, the oldest of each queue first.",
  options: deadLetterOptions,
  groups: ["gateway", "output"],
  examples: [
    { line: "weir dead-letters list", about: "Those of every queue" },
    { line: "weir dead-letters list --queue default --reason exhausted", about: "Those that no retry helped" },
    { line: "weir dead-letters list --function hello -o json", about: "Those of one function, for a program" },
  ],
  run: async (context, options) => {
    const queue = options.queue === undefined ? undefined : checkedQueue(options.queue, "list dead letters of");
    const filter = await readFilter(context, options);
    const found = await readDeadLetters(await context.gateway(), queue, (letter) => fitsFilter(filter, letter));
    const queues = new Map(found.map((each) => [each.letter, each.queue]));
    await context.output.list({
      rows: [...queues.keys()],
      columns: columnsOf((letter) => queues.get(letter) ?? ""),
      name: ({ callId }) => callId,
    });
  },
};

function columnsOf(queueOf: (letter: DeadLetterView) => string): readonly Column<DeadLetterView>[] {
  return [
    { title: "CALL", cell: ({ callId }) => callId },
    { title: "QUEUE", cell: queueOf },
    { title: "FUNCTION", cell: letterFunction },
    { title: "REASON", cell: ({ reason }) => reason },
    { title: "RUNS", cell: ({ attempts }) => String(attempts), align: "right" },
    { title: "STATUS", cell: ({ lastStatus }) => String(lastStatus ?? ""), align: "right" },
    { title: "AGE", cell: ({ deadAt }) => ageText(deadAt), align: "right" },
  ];
}

/** The function of a dead letter with its namespace; empty when it could not be read. */
export function letterFunction({ functionName, namespace }: DeadLetterView): string {
  return [functionName, namespace].filter((part) => part !== undefined).join(".");
}
