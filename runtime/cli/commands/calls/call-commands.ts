import type { CommandEntry } from "../../command-spec.ts";

/** Commands of calls. */
export const callCommands: readonly CommandEntry[] = [
  {
    name: "calls",
    aliases: ["call"],
    summary: "list and show calls, wait for them, read their results, cancel or replay them",
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
        name: "request",
        summary: "print the request of a call, if it was kept",
        load: async () => (await import("./requests/request.ts")).showCallRequest,
      },
      {
        name: "replay",
        summary: "send the request of a call again, if it was kept",
        load: async () => (await import("./requests/replay.ts")).replayCall,
      },
    ],
  },
];
