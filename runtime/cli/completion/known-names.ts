import { readOne } from "../client/read-reply.ts";
import { callPageReply } from "../client/reply-kinds.ts";
import type { CommandContext } from "../command-context.ts";
import type { CompletedNames } from "../command-spec.ts";
import { configFiles } from "../gateways/config-directory.ts";
import { readContexts } from "../gateways/contexts.ts";

type Named = readonly { readonly name: string }[];

/** Calls of which completion offers the ids, the newest. */
const mostCalls = 50;

/** What a shell can take without quotation; no name of the API has other characters. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

/**
 * The names of one kind, from the gateway or a file.
 * @throws CliError when they cannot be had
 */
export async function knownNames(context: CommandContext, kind: CompletedNames): Promise<readonly string[]> {
  const names = await namesOf(context, kind);
  return names.filter((name) => plainName.test(name)).toSorted();
}

async function namesOf(context: CommandContext, kind: CompletedNames): Promise<readonly string[]> {
  switch (kind) {
    case "context": {
      const { contexts } = await readContexts(configFiles(context.terminal).contexts);
      return Object.keys(contexts);
    }
    case "namespace":
      return (await context.gateway()).json("GET", "/system/namespaces");
    case "function":
      return nameList(context, "/system/functions", await context.namespace());
    case "secret":
      return nameList(context, "/system/secrets", await context.namespace());
    case "queue":
      return nameList(context, "/system/queues", undefined);
    case "call":
      return callIds(context);
    default:
      return kind satisfies never;
  }
}

/** Ids of the newest calls; none without a history. */
async function callIds(context: CommandContext): Promise<readonly string[]> {
  const gateway = await context.gateway();
  const { items } = await readOne(gateway, "/system/calls", callPageReply, { query: { limit: mostCalls } });
  return items.map(({ callId }) => callId);
}

async function nameList(
  context: CommandContext,
  path: string,
  namespace: string | undefined,
): Promise<readonly string[]> {
  const gateway = await context.gateway();
  const list = await gateway.json<Named>("GET", path, { query: { namespace } });
  return list.map(({ name }) => name);
}
