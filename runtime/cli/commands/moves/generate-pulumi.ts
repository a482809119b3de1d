import type { CommandSpec } from "../../command-spec.ts";
import { pulumiProgram } from "../../moves/write/pulumi-program.ts";
import { generateOptions, readGenerated, type GenerateOptions } from "../../moves/write/read-generated.ts";

/** `weir generate pulumi`. */
export const generatePulumi: CommandSpec<GenerateOptions> = {
  about:
    "Prints a Pulumi program in TypeScript that deploys the functions of weir.yaml with the components of weir/infra. Values of secrets come from the configuration of its stack.",
  options: generateOptions,
  groups: [],
  examples: [{ line: "weir generate pulumi > index.ts", about: "A program for pulumi up" }],
  run: async (context, options) => {
    const { functions } = await readGenerated(context, options);
    await context.output.write(pulumiProgram(functions));
  },
};
