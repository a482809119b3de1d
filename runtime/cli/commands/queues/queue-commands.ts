import type { CommandEntry } from "../../command-spec.ts";

/** Commands of queues and dead letters. */
export const queueCommands: readonly CommandEntry[] = [
  {
    name: "queues",
    aliases: ["queue"],
    summary: "show queues, and why calls wait",
    commands: [
      {
        name: "list",
        aliases: ["ls"],
        summary: "list queues",
        load: async () => (await import("./list.ts")).listQueues,
      },
      {
        name: "show",
        aliases: ["get"],
        summary: "show a queue",
        load: async () => (await import("./show.ts")).showQueueStatus,
      },
    ],
  },
  {
    name: "dead-letters",
    aliases: ["dead-letter"],
    summary: "show, redrive and delete calls that were given up",
    commands: [
      {
        name: "list",
        aliases: ["ls"],
        summary: "list dead letters",
        load: async () => (await import("./list-dead-letters.ts")).listDeadLetters,
      },
      {
        name: "show",
        aliases: ["get"],
        summary: "show why a call was given up, and what to do",
        load: async () => (await import("./show-dead-letter.ts")).showDeadLetter,
      },
      {
        name: "redrive",
        summary: "queue calls again that were given up",
        load: async () => (await import("./redrive-dead-letters.ts")).redriveDeadLetters,
      },
      {
        name: "delete",
        aliases: ["rm"],
        summary: "delete dead letters",
        load: async () => (await import("./delete-dead-letters.ts")).removeDeadLetters,
      },
    ],
  },
];
