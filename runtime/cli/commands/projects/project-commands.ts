import type { CommandEntry } from "../../command-spec.ts";

/** Commands of a folder of code: init, dev, build, up, deploy, schema. */
export const projectCommands: readonly CommandEntry[] = [
  {
    name: "init",
    aliases: ["new"],
    summary: "create a function of your own from a template",
    load: async () => (await import("./init.ts")).initProject,
  },
  {
    name: "dev",
    summary: "deploy functions at each save and show their logs; starts a Weir if none runs",
    load: async () => (await import("./dev.ts")).devCommand,
  },
  {
    name: "up",
    summary: "build and deploy what is in weir.yaml, and wait until it is ready",
    load: async () => (await import("./up.ts")).upCommand,
  },
  {
    name: "deploy",
    summary: "deploy functions as weir.yaml or options describe them",
    load: async () => (await import("./deploy.ts")).deployCommand,
  },
  {
    name: "build",
    summary: "build the images of functions",
    load: async () => (await import("./build.ts")).buildCommand,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of weir.yaml",
    load: async () => (await import("./schema.ts")).printSchema,
  },
];
