import type { CommandSpec, OptionSpec } from "../../command-spec.ts";
import { readKeyValues } from "./key-values.ts";
import { checkedNamespace } from "./namespace-name.ts";

/** Labels and annotations that are given to a namespace. */
export interface KeyValueOptions {
  readonly label?: readonly string[];
  readonly annotation?: readonly string[];
}

export const keyValueOptions: readonly OptionSpec[] = [
  { flags: "--label <key=value...>", about: "a label; may be repeated" },
  { flags: "--annotation <key=value...>", about: "an annotation; may be repeated" },
];

/** `weir namespaces create`. */
export const createFunctionNamespace: CommandSpec<KeyValueOptions> = {
  about: "Creates a namespace, where functions and secrets have names of their own.",
  arguments: [{ name: "<name>", about: "name of the namespace" }],
  options: keyValueOptions,
  groups: ["gateway"],
  examples: [{ line: "weir namespaces create dev --label team=blue", about: "A namespace with a label" }],
  run: async (context, { label = [], annotation = [] }, [text = ""]) => {
    const name = checkedNamespace(text, "create");
    const json = {
      name,
      labels: readKeyValues("--label", label),
      annotations: readKeyValues("--annotation", annotation),
    };
    const gateway = await context.gateway();
    await gateway.accepted("POST", "/system/namespaces", { json });
    context.output.note(`Namespace "${name}" is created`);
  },
};
