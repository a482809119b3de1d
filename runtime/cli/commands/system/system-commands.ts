import type { CommandEntry } from "../../command-spec.ts";

/** Commands about this program and the gateway as a whole. */
export const systemCommands: readonly CommandEntry[] = [
  {
    name: "doctor",
    summary: "find what is wrong with this machine, the way to the gateway, and its platform",
    load: async () => (await import("./doctor.ts")).examinePlatform,
  },
  {
    name: "completion",
    summary: "print a script that makes a shell complete commands and names",
    load: async () => (await import("./completion.ts")).printCompletion,
  },
  {
    name: "version",
    summary: "show the version of this program and of the gateway",
    load: async () => (await import("./version.ts")).showVersion,
  },
];
