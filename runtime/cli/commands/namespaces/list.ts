import { readList } from "../../client/read-reply.ts";
import { namespaceNameReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";

/** `weir namespaces list`. */
export const listNamespaces: CommandSpec = {
  about: "Lists the namespaces of functions, the default one among them.",
  groups: ["gateway", "output"],
  examples: [{ line: "weir namespaces list", about: "One on each line" }],
  run: async (context) => {
    const gateway = await context.gateway();
    const rows = await readList(gateway, "/system/namespaces", namespaceNameReply);
    await context.output.list({ rows, columns: [{ title: "NAME", cell: (name) => name }], name: (name) => name });
  },
};
