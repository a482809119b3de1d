import type { CommandEntry } from "../../command-spec.ts";

/** Commands of queued calls. */
export const callCommands: readonly CommandEntry[] = [
  {
    name: "calls",
    aliases: ["call"],
    summary: "show queued calls, wait for them, read their results, cancel them",
    commands: [
      {
        name: "list",
        aliases: ["ls"],
        summary: "list calls, if the gateway keeps a history",
        load: async () => (await import("./list.ts")).listCalls,
      },
      {
        name: "show",
        aliases: ["get"],
        summary: "show a call and its timeline",
        load: async () => (await import("./show.ts")).showCall,
      },
      {
        name: "wait",
        summary: "wait until a call has ended",
        load: async () => (await import("./wait.ts")).waitCall,
      },
      {
        name: "result",
        summary: "print the output of a call",
        load: async () => (await import("./result.ts")).callResult,
      },
      {
        name: "cancel",
        summary: "cancel a call",
        load: async () => (await import("./cancel.ts")).cancelQueuedCall,
      },
      {
        name: "logs",
        summary: "show the log of a call, if the gateway keeps a history",
        load: async () => (await import("./logs.ts")).callLogs,
      },
      {
        name: "replay",
        summary: "send a call again, if the gateway keeps a history",
        load: async () => (await import("./replay.ts")).replayCall,
      },
    ],
  },
];
