import type { CommandEntry } from "../../command-spec.ts";

/** Commands that move functions into Weir and out of it. */
export const moveCommands: readonly CommandEntry[] = [
  {
    name: "import",
    summary: "import OpenFaaS stack files and custom resources",
    load: async () => (await import("./import.ts")).importCommand,
  },
  {
    name: "generate",
    summary: "print what is deployed for other tools",
    commands: [
      {
        name: "functions",
        summary: "print the functions of weir.yaml as objects of Kubernetes",
        load: async () => (await import("./generate-functions.ts")).generateFunctions,
      },
      {
        name: "pulumi",
        summary: "print the functions of weir.yaml as a Pulumi program",
        load: async () => (await import("./generate-pulumi.ts")).generatePulumi,
      },
    ],
  },
];
