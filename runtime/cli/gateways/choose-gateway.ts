import type { Contexts, GatewayContext } from "./contexts.ts";
import { usageError } from "../cli-error.ts";
import { nearestName } from "../../api/closest-name.ts";
import { gatewayAddress } from "./gateway-address.ts";

/** What may say which gateway is meant; each is undefined when it says nothing. */
export interface GatewaySources {
  /** `--gateway`. */
  readonly flag: string | undefined;
  /** `--context`. */
  readonly contextFlag: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `gateway` of `weir.yaml`. */
  readonly project: string | undefined;
  /** The Weir of this directory, if it runs. */
  readonly local: string | undefined;
  readonly contexts: Contexts;
}

/** The gateway that a command speaks to. */
export interface ChosenGateway {
  readonly address: string;
  /** What decided, as in a sentence: `--gateway`, `context "prod"`. */
  readonly source: string;
  /** If a context decided: it has TLS files and a namespace. */
  readonly context: GatewayContext | undefined;
  /** Named by `weir.yaml` alone: credentials of the environment are not for it. */
  readonly byProject: boolean;
}

/** Where `npm start` listens. */
const defaultAddress = "http://127.0.0.1:8080";

/**
 * The first source that names a gateway.
 * @throws CliError when a context is unknown or an address cannot be used
 */
export function chooseGateway(sources: GatewaySources): ChosenGateway {
  const { environment, contexts } = sources;
  const by = (text: string | undefined, source: string, byProject = false): ChosenGateway | undefined =>
    text === undefined || text === ""
      ? undefined
      : { address: gatewayAddress(text, source), source, context: undefined, byProject };
  const named = (name: string | undefined, source: string): ChosenGateway | undefined => {
    if (name === undefined || name === "") return undefined;
    const context = contextNamed(contexts, name, source);
    return { address: gatewayAddress(context.gateway, `context "${name}"`), source, context, byProject: false };
  };
  return (
    by(sources.flag, "--gateway") ??
    named(sources.contextFlag, "--context") ??
    named(environment["WEIR_CONTEXT"], "WEIR_CONTEXT") ??
    by(environment["WEIR_GATEWAY"], "WEIR_GATEWAY") ??
    by(sources.project, "weir.yaml", true) ??
    by(sources.local, ".weir/address") ??
    named(contexts.current, `context "${contexts.current ?? ""}"`) ??
    by(environment["OPENFAAS_URL"], "OPENFAAS_URL") ?? {
      address: defaultAddress,
      source: "the default",
      context: undefined,
      byProject: false,
    }
  );
}

function contextNamed({ contexts }: Contexts, name: string, source: string): GatewayContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context !== undefined) return context;
  const near = nearestName(name, Object.keys(contexts));
  const question = near === undefined ? "" : `; did you mean "${near}"?`;
  throw usageError(`Cannot use context "${name}" of ${source}: there is none${question}`, "weir context list");
}
