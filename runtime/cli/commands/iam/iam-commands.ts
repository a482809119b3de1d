import type { CommandEntry } from "../../command-spec.ts";

/** Commands of identity and access. */
export const iamCommands: readonly CommandEntry[] = [
  {
    name: "iam",
    summary: "ask and check who may do what; change the keys of tokens",
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
        name: "rotate-key",
        summary: "replace a signing key of the Weir on this machine",
        load: async () => (await import("./rotate-key.ts")).rotateKey,
      },
    ],
  },
];
