import type { CommandSpec } from "../../command-spec.ts";
import { chooseFunctions, type ChoiceOptions } from "../../deploy/plan/choose-functions.ts";
import { deployFunctions, type DeployOptions } from "../../deploy/deploy-functions.ts";
import { builderOption, choiceOptions, registryOption, rolloutOptions } from "../../deploy/deploy-options.ts";

/** `weir up`. */
export const upCommand: CommandSpec<ChoiceOptions & DeployOptions> = {
  about:
    "Deploys the functions of weir.yaml and waits until they are ready: the local provider runs their folders, for others their images are built and pushed. What is deployed already is left alone.",
  arguments: [{ name: "[name...]", about: "functions of weir.yaml; all by default", completes: "function" }],
  options: [...choiceOptions, builderOption, registryOption, ...rolloutOptions],
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir up", about: "Everything in weir.yaml" },
    { line: "weir up hello --dry-run", about: "What would change in one function" },
    { line: "weir up --timeout 10m -q", about: "In a pipeline: ten minutes, and only what goes wrong" },
  ],
  run: async (context, options, names) => {
    const chosen = await chooseFunctions(context.terminal, names, options);
    await deployFunctions(context, chosen, options, "up");
  },
};
