import type { CommandEntry } from "../../command-spec.ts";

/** Commands of secrets. */
export const secretCommands: readonly CommandEntry[] = [
  {
    name: "secrets",
    aliases: ["secret"],
    summary: "create, change, list and delete secrets",
    commands: [
      {
        name: "create",
        summary: "create a secret from one file or value",
        load: async () => (await import("./create.ts")).createSecret,
      },
    ],
  },
];
