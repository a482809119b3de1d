import type { CommandEntry } from "../../command-spec.ts";

/** Commands that say which gateway is meant, and who calls it. */
export const accessCommands: readonly CommandEntry[] = [
  {
    name: "login",
    summary: "sign in to a gateway",
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    summary: "remove stored credentials",
    load: async () => (await import("./logout.ts")).logout,
  },
  {
    name: "whoami",
    summary: "show the gateway and who signs in",
    load: async () => (await import("./whoami.ts")).whoami,
  },
  {
    name: "context",
    aliases: ["contexts"],
    summary: "list, choose, set and delete named gateways",
    commands: [
      {
        name: "list",
        aliases: ["ls"],
        summary: "list named gateways",
        load: async () => (await import("./context-list.ts")).listContexts,
      },
      {
        name: "set",
        summary: "store a gateway under a name, or change it",
        load: async () => (await import("./context-set.ts")).setContext,
      },
      {
        name: "use",
        summary: "make a named gateway the current one",
        load: async () => (await import("./context-use.ts")).useContext,
      },
      {
        name: "delete",
        aliases: ["rm"],
        summary: "forget named gateways",
        load: async () => (await import("./context-delete.ts")).deleteContext,
      },
    ],
  },
];
