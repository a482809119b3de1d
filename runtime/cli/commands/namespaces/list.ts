import type { CommandSpec } from "../../command-spec.ts";

/** `weir namespaces list`. */
export const listNamespaces: CommandSpec = {
  about: "Lists the namespaces of functions, the default one among them.",
  groups: ["gateway", "output"],
  examples: [{ line: "weir namespaces list", about: "One on each line" }],
  run: async (context) => {
    const gateway = await context.gateway();
    const rows = await gateway.json<readonly string[]>("GET", "/system/namespaces");
    await context.output.list({ rows, columns: [{ title: "NAME", cell: (name) => name }], name: (name) => name });
  },
};
