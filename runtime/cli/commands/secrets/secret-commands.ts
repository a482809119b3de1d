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
      {
        name: "update",
        summary: "give a secret another value",
        load: async () => (await import("./update.ts")).updateSecret,
      },
      {
        name: "list",
        aliases: ["ls"],
        summary: "list secrets and the functions that use them",
        load: async () => (await import("./list.ts")).listSecrets,
      },
      {
        name: "delete",
        aliases: ["rm"],
        summary: "delete a secret",
        load: async () => (await import("./delete.ts")).removeSecret,
      },
    ],
  },
];
