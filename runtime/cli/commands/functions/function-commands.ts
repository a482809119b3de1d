import type { CommandEntry } from "../../command-spec.ts";

/** Commands of one function, or of all. */
export const functionCommands: readonly CommandEntry[] = [
  {
    name: "list",
    aliases: ["ls"],
    summary: "list functions",
    load: async () => (await import("./list.ts")).listFunctions,
  },
];
