import type { CommandSpec } from "../../command-spec.ts";
import { generateOptions, readGenerated, type GenerateOptions } from "../../moves/write/read-generated.ts";
import { functionsText } from "../../moves/write/functions-text.ts";

/** `weir generate functions`. */
export const generateFunctions: CommandSpec<GenerateOptions> = {
  about:
    "Prints the functions of weir.yaml as Function objects of Kubernetes, for kubectl, Argo CD or Flux. Comments keep what such an object has no field for, so that weir import makes the same weir.yaml of them.",
  options: generateOptions,
  groups: [],
  examples: [
    { line: "weir generate functions", about: "One document for each function" },
    { line: "weir generate functions > functions.yaml", about: "For a directory that is applied from Git" },
  ],
  run: async (context, options) => {
    const { project, functions } = await readGenerated(context, options);
    await context.output.write(await functionsText(project, functions));
  },
};
