import type { CommandEntry } from "../../command-spec.ts";

/** Commands of namespaces. */
export const namespaceCommands: readonly CommandEntry[] = [
  {
    name: "namespaces",
    aliases: ["namespace"],
    summary: "list, show, create, change and delete namespaces",
    commands: [
      {
        name: "list",
        aliases: ["ls"],
        summary: "list namespaces",
        load: async () => (await import("./list.ts")).listNamespaces,
      },
      {
        name: "show",
        aliases: ["get"],
        summary: "show a namespace with its labels and annotations",
        load: async () => (await import("./show.ts")).showFunctionNamespace,
      },
      {
        name: "create",
        summary: "create a namespace",
        load: async () => (await import("./create.ts")).createFunctionNamespace,
      },
      {
        name: "update",
        summary: "change labels and annotations of a namespace",
        load: async () => (await import("./update.ts")).updateNamespace,
      },
      {
        name: "delete",
        aliases: ["rm"],
        summary: "delete a namespace with all that is in it",
        load: async () => (await import("./delete.ts")).deleteFunctionNamespace,
      },
    ],
  },
];
