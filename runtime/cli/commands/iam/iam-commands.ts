import type { CommandEntry } from "../../command-spec.ts";

/** Commands of identity and access. */
export const iamCommands: readonly CommandEntry[] = [
  {
    name: "iam",
    summary: "ask and check who may do what; end sessions; change the keys of tokens",
    commands: [
      {
        name: "can-i",
        summary: "say whether an action is allowed",
        load: async () => (await import("./can-i.ts")).canI,
      },
      {
        name: "simulate",
        summary: "list which actions are allowed, and by what",
        load: async () => (await import("./simulate.ts")).simulateAccess,
      },
      {
        name: "check",
        summary: "check files of JwtIssuers, Policies and Roles, without a gateway",
        load: async () => (await import("./check.ts")).checkRules,
      },
      {
        name: "sessions",
        summary: "show and end sessions of the console",
        commands: [
          {
            name: "list",
            aliases: ["ls"],
            summary: "list who is signed in",
            load: async () => (await import("./list-sessions.ts")).listSessions,
          },
          {
            name: "end",
            summary: "sign somebody out",
            load: async () => (await import("./end-sessions.ts")).endSessions,
          },
        ],
      },
      {
        name: "rotate-key",
        summary: "replace a signing key of the Weir on this machine",
        load: async () => (await import("./rotate-key.ts")).rotateKey,
      },
    ],
  },
];
