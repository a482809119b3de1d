import { usageError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { changeContexts, checkedContextName, type Contexts, type GatewayContext } from "../../gateways/contexts.ts";
import { gatewayAddress } from "../../gateways/gateway-address.ts";
import { flaggedTls } from "../../open-context.ts";
import { groupOptions, type SharedFlags } from "../../shared-options.ts";

/** Those of the shared options that a context keeps. */
const kept = groupOptions.gateway.filter(({ flags }) => /^--(?:gateway|ca-file|cert-file|key-file|tls-)/.test(flags));

/** `weir context set`. */
export const setContext: CommandSpec<SharedFlags> = {
  about:
    "Stores a gateway under a name, or changes what is stored: its address, namespace and TLS files. Credentials are stored by login.",
  arguments: [{ name: "<name>", about: "name of the context", completes: "context" }],
  options: kept,
  groups: ["namespace"],
  examples: [
    { line: 'weir context set local --gateway "$WEIR_GATEWAY"', about: "The gateway gets a name" },
    { line: "weir context set local -n functions", about: "Commands with this context use that namespace" },
  ],
  run: async ({ output, terminal }, options, [text = ""]) => {
    const name = checkedContextName(text);
    const { gateway, namespace } = options;
    const change: Partial<GatewayContext> = {
      ...(gateway === undefined ? {} : { gateway: gatewayAddress(gateway, "--gateway") }),
      ...(namespace === undefined ? {} : { namespace }),
      ...flaggedTls(options, terminal.directory),
    };
    let isCurrent = false;
    await changeContexts(configFiles(terminal).contexts, (contexts) => {
      isCurrent = contexts.current === name;
      return withContext(contexts, name, change);
    });
    output.note(
      `Context "${name}" is stored${isCurrent ? "" : `; use it with --context ${name}, or: weir context use ${name}`}`,
    );
  },
};

function withContext(known: Contexts, name: string, change: Partial<GatewayContext>): Contexts {
  const before = Object.hasOwn(known.contexts, name) ? known.contexts[name] : undefined;
  const gateway = change.gateway ?? before?.gateway;
  if (gateway === undefined) throw usageError(`Cannot set context "${name}": it is new and needs --gateway`);
  return { ...known, contexts: { ...known.contexts, [name]: { ...before, ...change, gateway } } };
}
