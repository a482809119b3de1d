import type { FunctionNamespaceBody } from "../../../api/schemas/function-namespace.ts";
import { readOne } from "../../client/read-reply.ts";
import { namespaceReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { formatFields, type Field } from "../../output/format-fields.ts";
import type { KeyValues } from "./key-values.ts";
import { checkedNamespace } from "./namespace-name.ts";

/** `weir namespaces show`. */
export const showFunctionNamespace: CommandSpec = {
  about: "Shows a namespace with its labels and annotations.",
  arguments: [{ name: "<name>", about: "name of the namespace", completes: "namespace" }],
  groups: ["gateway", "output"],
  examples: [{ line: "weir namespaces show functions", about: "The default namespace" }],
  run: async (context, _options, [text = ""]) => {
    const path = `/system/namespace/${checkedNamespace(text, "show")}`;
    const gateway = await context.gateway();
    const namespace = await readOne(gateway, path, namespaceReply);
    await context.output.value(namespace, { text: () => namespaceText(namespace), name: namespace.name });
  },
};

/** A namespace for people. */
export function namespaceText({ annotations = {}, labels = {}, name }: FunctionNamespaceBody): string {
  return formatFields([
    ["namespace", name],
    ...pairFields("labels", labels),
    ...pairFields("annotations", annotations),
  ]);
}

function pairFields(label: string, pairs: KeyValues): readonly Field[] {
  return Object.entries(pairs).map(([key, value], index) => [index === 0 ? label : "", `${key}=${value}`]);
}
