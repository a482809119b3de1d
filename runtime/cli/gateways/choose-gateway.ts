import { unknownContext, type Contexts, type GatewayContext } from "./contexts.ts";
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
  /** A sentence for people who may have meant another one; undefined when nothing else was named. */
  readonly note: string | undefined;
}

/** Where `npm start` listens. */
const defaultAddress = "http://127.0.0.1:8080";

/** A gateway that the command line names. */
export function namedGateway(text: string, source: string): ChosenGateway {
  return { ...chosen, address: gatewayAddress(text, source), source };
}

/**
 * The first source that names a gateway.
 * @throws CliError when a context is unknown or an address cannot be used
 */
export function chooseGateway(sources: GatewaySources): ChosenGateway {
  const { environment, contexts } = sources;
  const by = (text: string | undefined, source: string): ChosenGateway | undefined =>
    text === undefined || text === "" ? undefined : namedGateway(text, source);
  const named = (name: string | undefined, source: string): ChosenGateway | undefined => {
    if (name === undefined || name === "") return undefined;
    const context = contextNamed(contexts, name, source);
    const shown = `context "${name}"`;
    return { ...chosen, address: gatewayAddress(context.gateway, shown), source: shown, context };
  };
  return (
    by(sources.flag, "--gateway") ??
    named(sources.contextFlag, "--context") ??
    named(environment["WEIR_CONTEXT"], "WEIR_CONTEXT") ??
    by(environment["WEIR_GATEWAY"], "WEIR_GATEWAY") ??
    ofProject(by(sources.project, "weir.yaml"), contexts) ??
    by(sources.local, ".weir/address") ??
    named(contexts.current, "the contexts") ??
    by(environment["OPENFAAS_URL"], "OPENFAAS_URL") ?? { ...chosen, address: defaultAddress, source: "the default" }
  );
}

const chosen = { context: undefined, byProject: false, note: undefined };

function ofProject(
  project: ChosenGateway | undefined,
  { contexts, current = "" }: Contexts,
): ChosenGateway | undefined {
  if (project === undefined) return undefined;
  const other = Object.hasOwn(contexts, current) ? contexts[current]?.gateway : undefined;
  const note =
    other === undefined || sameGateway(other, project.address)
      ? undefined
      : `Using ${project.address} of weir.yaml, not ${other} of the current context "${current}"`;
  return { ...project, byProject: true, note };
}

function sameGateway(text: string, address: string): boolean {
  try {
    return gatewayAddress(text, "a context") === address;
  } catch {
    return false;
  }
}

function contextNamed({ contexts }: Contexts, name: string, source: string): GatewayContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) throw unknownContext(name, contexts, ` of ${source}`);
  return context;
}
