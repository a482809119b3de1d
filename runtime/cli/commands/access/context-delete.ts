import type { CommandSpec } from "../../command-spec.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { changeContexts, readContexts, unknownContext, type Contexts } from "../../gateways/contexts.ts";

/** `weir context delete`. */
export const deleteContext: CommandSpec = {
  about: "Forgets contexts. Credentials that are stored for their gateways stay until logout.",
  arguments: [{ name: "<name...>", about: "names of contexts", completes: "context" }],
  groups: ["confirm"],
  examples: [{ line: "weir context delete local --yes", about: "Without a question, as in a script" }],
  run: async (context, _options, names) => {
    const file = configFiles(context.terminal).contexts;
    // Not after the question: nobody likes to answer for nothing.
    without(await readContexts(file), names);
    const list = names.map((name) => `"${name}"`).join(", ");
    const noun = names.length === 1 ? "context" : "contexts";
    await context.confirm(`Delete ${noun} ${list}?`);
    await changeContexts(file, (known) => without(known, names));
    context.output.note(`Deleted ${noun} ${list}`);
  },
};

function without({ contexts, current }: Contexts, names: readonly string[]): Contexts {
  for (const name of names) if (!Object.hasOwn(contexts, name)) throw unknownContext(name, contexts);
  const left = Object.fromEntries(Object.entries(contexts).filter(([name]) => !names.includes(name)));
  return { contexts: left, ...(current === undefined || names.includes(current) ? {} : { current }) };
}
