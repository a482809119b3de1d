import { CliError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { namedFunction } from "./named-function.ts";

/** `weir delete`. */
export const deleteFunctions: CommandSpec<{ readonly namespace?: string }> = {
  about: "Removes functions and their replicas. Calls that run may end; queued ones fail.",
  arguments: [{ name: "<name...>", about: "functions, as in hello or hello.dev", completes: "function" }],
  groups: ["gateway", "namespace", "confirm"],
  examples: [{ line: "weir delete hello upper --yes", about: "Removes two functions without a question" }],
  run: async (context, options, names) => {
    const functions = [];
    for (const text of new Set(names)) functions.push(await namedFunction(context, text, options.namespace));
    const listed = functions.map(({ name }) => `"${name}"`).join(", ");
    await context.confirm(`Delete function${functions.length === 1 ? "" : "s"} ${listed}?`);
    const gateway = await context.gateway();
    let failure: CliError | undefined;
    for (const { name, namespace } of functions) {
      try {
        await gateway.accepted("DELETE", "/system/functions", { json: { functionName: name, namespace } });
        context.output.note(`Function "${name}" is deleted`);
      } catch (err) {
        if (!(err instanceof CliError) || functions.length === 1) throw err;
        context.output.warn(err.message);
        failure ??= err;
      }
    }
    // Its sentence stands on stderr, in its place among the others.
    if (failure !== undefined) throw new CliError(failure.exit, "", { hint: failure.hint, cause: failure });
  },
};
