import type { DeadLetterView } from "../../../api/schemas/queue-status.ts";
import { parseFunctionName } from "../../calls/call-target.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readOne } from "../../client/read-reply.ts";
import { infoReply, namespaceReply } from "../../client/reply-kinds.ts";
import type { CommandContext } from "../../command-context.ts";
import type { OptionSpec } from "../../command-spec.ts";

/** Options that say which dead letters are meant. */
export interface DeadLetterOptions {
  readonly queue?: string;
  /** `name`, or `name.namespace`. */
  readonly function?: string;
  readonly reason?: DeadLetterView["reason"];
}

export const deadLetterOptions: readonly OptionSpec[] = [
  { flags: "--queue <name>", about: "of this queue; of every queue if none is named" },
  { flags: "--function <name>", about: "of this function; a namespace may follow after a dot" },
  {
    flags: "--reason <reason>",
    about: "given up for this reason",
    choices: ["exhausted", "crash", "expired", "undecodable", "callback"] satisfies readonly DeadLetterView["reason"][],
  },
];

/** Which dead letters of a queue are meant; what is undefined does not matter. */
export interface DeadLetterFilter {
  readonly functionName: string | undefined;
  /** Real name. */
  readonly namespace: string | undefined;
  readonly reason: DeadLetterView["reason"] | undefined;
}

/** Whether a dead letter is one of those that are meant. */
export function fitsFilter({ functionName, namespace, reason }: DeadLetterFilter, letter: DeadLetterView): boolean {
  return (
    (functionName === undefined || letter.functionName === functionName) &&
    (namespace === undefined || letter.namespace === namespace) &&
    (reason === undefined || letter.reason === reason)
  );
}

/**
 * The filter of the options. A function without a namespace is one of the project's or context's, else of the default
 * namespace.
 * @throws CliError when `--function` cannot be a function's name
 */
export async function readFilter(context: CommandContext, options: DeadLetterOptions): Promise<DeadLetterFilter> {
  const { function: text, reason } = options;
  if (text === undefined) return { functionName: undefined, namespace: undefined, reason };
  const { name, namespace } = parseFunctionName(text);
  const gateway = await context.gateway();
  return {
    functionName: name,
    namespace: await realNamespace(gateway, namespace ?? (await context.namespace())),
    reason,
  };
}

/** The name under which a namespace is shown; an unknown one is taken as it is, as its dead letters may be left. */
async function realNamespace(gateway: GatewayClient, name: string | undefined): Promise<string> {
  if (name === undefined) return (await readOne(gateway, "/system/info", infoReply)).functionNamespace;
  try {
    const path = `/system/namespace/${encodeURIComponent(name)}`;
    return (await readOne(gateway, path, namespaceReply)).name;
  } catch (err) {
    if (err instanceof CliError && err.code === "namespace_not_found") return name;
    throw err;
  }
}
