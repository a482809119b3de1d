import type { CommandSpec } from "../../command-spec.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { changeContexts, unknownContext } from "../../gateways/contexts.ts";

/** `weir context use`. */
export const useContext: CommandSpec = {
  about: "Makes a context the current one: the gateway of all commands for which nothing else names one.",
  arguments: [{ name: "<name>", about: "name of the context", completes: "context" }],
  groups: [],
  examples: [{ line: "weir context use local", about: 'Commands go to the gateway of context "local"' }],
  run: async ({ output, terminal }, _options, [name = ""]) => {
    let address: string | undefined;
    await changeContexts(configFiles(terminal).contexts, ({ contexts }) => {
      if (!Object.hasOwn(contexts, name)) throw unknownContext(name, contexts);
      address = contexts[name]?.gateway;
      return { contexts, current: name };
    });
    output.note(`Context "${name}" is the current one: ${address ?? ""}`);
  },
};
