import type { CommandSpec } from "../../command-spec.ts";
import { chooseDescribed, type ChoiceOptions } from "../../deploy/plan/choose-functions.ts";
import { deployFlagOptions, type DeployFlags } from "../../deploy/plan/deploy-flags.ts";
import { deployFunctions, type DeployOptions } from "../../deploy/deploy-functions.ts";
import { choiceOptions, registryOption, rolloutOptions } from "../../deploy/deploy-options.ts";

/** `weir deploy`. */
export const deployCommand: CommandSpec<ChoiceOptions & DeployFlags & DeployOptions> = {
  about:
    "Sends functions as weir.yaml or flags describe them, and waits until they are ready. It builds nothing, and also sends what has not changed: replicas start anew, with new secrets and images.",
  arguments: [
    {
      name: "[name...]",
      about: "functions of weir.yaml, all by default; or one that flags describe",
      completes: "function",
    },
  ],
  options: [...deployFlagOptions, ...choiceOptions, registryOption, ...rolloutOptions],
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir deploy hello --image hello --process cat", about: "A function that only flags describe" },
    {
      line: "weir deploy upper --image upper --process 'tr a-z A-Z' --env LEVEL=2 --label com.service.scale.max=5",
      about: "With a variable and a label",
    },
    { line: "weir deploy hello --image hello --process cat --dry-run", about: "What would change" },
  ],
  run: async (context, options, names) => {
    const chosen = await chooseDescribed(context.terminal, names, options);
    await deployFunctions(context, chosen, options, "deploy");
  },
};
