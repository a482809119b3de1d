import { readList } from "../../client/read-reply.ts";
import { functionNameReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { counted } from "../../output/counted.ts";
import { checkedNamespace } from "./namespace-name.ts";

/** `weir namespaces delete`. */
export const deleteFunctionNamespace: CommandSpec = {
  about: "Deletes a namespace with all functions and secrets in it; its queued calls fail.",
  arguments: [{ name: "<name>", about: "name of the namespace", completes: "namespace" }],
  groups: ["gateway", "confirm"],
  examples: [{ line: "weir namespaces delete dev --yes", about: "Without a question, as in a script" }],
  run: async (context, _options, [text = ""]) => {
    const namespace = checkedNamespace(text, "delete");
    const gateway = await context.gateway();
    const functions = await readList(gateway, "/system/functions", functionNameReply, { query: { namespace } });
    const content = functions.length === 0 ? "" : ` with ${counted(functions.length, "function")}`;
    await context.confirm(`Delete namespace "${namespace}"${content}?`);
    await gateway.accepted("DELETE", `/system/namespace/${namespace}`);
    context.output.note(`Namespace "${namespace}" is deleted${content}`);
  },
};
