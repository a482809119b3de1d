import type { FunctionNamespaceBody } from "../../../api/schemas/function-namespace.ts";
import { usageError } from "../../cli-error.ts";
import { readOne } from "../../client/read-reply.ts";
import { namespaceReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { keyValueOptions, type KeyValueOptions } from "./create.ts";
import { changedKeyValues, readKeyValues } from "./key-values.ts";
import { checkedNamespace } from "./namespace-name.ts";

interface UpdateOptions extends KeyValueOptions {
  readonly removeLabel?: readonly string[];
  readonly removeAnnotation?: readonly string[];
}

/** `weir namespaces update`. */
export const updateNamespace: CommandSpec<UpdateOptions> = {
  about: "Sets and removes labels and annotations of a namespace; the others stay.",
  arguments: [{ name: "<name>", about: "name of the namespace", completes: "namespace" }],
  options: [
    ...keyValueOptions,
    { flags: "--remove-label <key...>", about: "key of a label that is removed; may be repeated" },
    { flags: "--remove-annotation <key...>", about: "key of an annotation that is removed; may be repeated" },
  ],
  groups: ["gateway"],
  examples: [{ line: "weir namespaces update dev --label team=red --remove-label cost", about: "Changes two labels" }],
  run: async (context, options, [text = ""]) => {
    const { label = [], annotation = [], removeLabel = [], removeAnnotation = [] } = options;
    const name = checkedNamespace(text, "update");
    if ([label, annotation, removeLabel, removeAnnotation].every((given) => given.length === 0))
      throw usageError(
        `Cannot update namespace "${name}": give --label, --annotation, --remove-label or --remove-annotation`,
      );
    const labels = readKeyValues("--label", label);
    const annotations = readKeyValues("--annotation", annotation);
    const gateway = await context.gateway();
    const path = `/system/namespace/${name}`;
    const present = await readOne(gateway, path, namespaceReply);
    const json: FunctionNamespaceBody = {
      name: present.name,
      labels: changedKeyValues(present.labels ?? {}, labels, removeLabel),
      annotations: changedKeyValues(present.annotations ?? {}, annotations, removeAnnotation),
    };
    await gateway.accepted("PUT", "/system/namespaces", { json });
    context.output.note(`Namespace "${name}" is updated`);
  },
};
