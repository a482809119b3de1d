import type { CommandEntry } from "../../command-spec.ts";

/** Commands of one function, or of all. */
export const functionCommands: readonly CommandEntry[] = [
  {
    name: "list",
    aliases: ["ls"],
    summary: "list functions",
    load: async () => (await import("./list.ts")).listFunctions,
  },
  {
    name: "describe",
    aliases: ["get"],
    summary: "show a function: its conditions, then what was deployed",
    load: async () => (await import("./describe.ts")).describeFunction,
  },
  {
    name: "invoke",
    summary: "call a function, now or queued",
    load: async () => (await import("./invoke.ts")).invokeFunction,
  },
  {
    name: "logs",
    summary: "show the log of a function",
    load: async () => (await import("./logs.ts")).functionLogs,
  },
  {
    name: "scale",
    summary: "set the number of replicas of a function",
    load: async () => (await import("./scale.ts")).scaleByHand,
  },
  {
    name: "delete",
    aliases: ["rm"],
    summary: "remove functions",
    load: async () => (await import("./delete.ts")).deleteFunctions,
  },
];
