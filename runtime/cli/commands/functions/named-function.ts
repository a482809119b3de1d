import { parseFunctionName, type GivenFunction } from "../../calls/call-target.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";

/**
 * The function that a command line names as `NAME` or `NAME.NAMESPACE`; `given` is its `--namespace`.
 * @throws CliError for a name that no function can have, and when two namespaces are named
 */
export async function namedFunction(
  context: CommandContext,
  text: string,
  given: string | undefined,
): Promise<GivenFunction> {
  const named = parseFunctionName(text);
  return { name: named.name, namespace: await givenNamespace(context, named, given) };
}

/** The namespace of a function that was named so: its own, else as for every command. */
export async function givenNamespace(
  context: CommandContext,
  { name, namespace }: GivenFunction,
  given: string | undefined,
): Promise<string | undefined> {
  if (namespace === undefined) return context.namespace();
  if (given === undefined || given === namespace) return namespace;
  throw usageError(`Cannot choose the namespace of "${name}": its name says "${namespace}", --namespace "${given}"`);
}
