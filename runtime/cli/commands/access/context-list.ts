import type { CommandSpec } from "../../command-spec.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { readContexts } from "../../gateways/contexts.ts";
import { compareText } from "../../output/compare-text.ts";

/** `weir context list`. */
export const listContexts: CommandSpec = {
  about: "Lists the gateways that are stored under a name. The current one is used when nothing else names a gateway.",
  groups: ["output"],
  examples: [{ line: "weir context list", about: "The current one has a star" }],
  run: async ({ output, terminal }) => {
    const { contexts, current } = await readContexts(configFiles(terminal).contexts);
    const all = Object.entries(contexts).map(([name, each]) => ({ name, current: name === current, ...each }));
    await output.list({
      rows: all.toSorted((a, b) => compareText(a.name, b.name)),
      columns: [
        { title: "", cell: (row) => (row.current ? "*" : "") },
        { title: "NAME", cell: ({ name }) => name },
        { title: "GATEWAY", cell: ({ gateway }) => gateway },
        { title: "NAMESPACE", cell: ({ namespace = "" }) => namespace },
      ],
      name: ({ name }) => name,
    });
  },
};
