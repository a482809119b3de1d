import { resolve } from "node:path";

import { parseDuration } from "../api/duration.ts";
import { usageError } from "./cli-error.ts";
import type { TlsFiles } from "./client/dispatcher.ts";
import type { GatewayClient } from "./client/gateway-client.ts";
import type { GatewayCredentials } from "./client/gateway-credentials.ts";
import type { CommandContext } from "./command-context.ts";
import type { ChosenGateway } from "./gateways/choose-gateway.ts";
import type { LocalWeir } from "./gateways/local-weir.ts";
import { mayColour } from "./output/colour.ts";
import { Output } from "./output/output.ts";
import type { SharedFlags } from "./shared-options.ts";
import type { Terminal } from "./terminal.ts";

/** Milliseconds until the head of a reply, where a command sets no other. */
const requestTimeout = 60_000;

interface Place {
  readonly gateway: ChosenGateway;
  readonly local: LocalWeir | undefined;
  /** Of `weir.yaml`. */
  readonly namespace: string | undefined;
}

/** What a command works with, for these flags; `close` ends its connections, and what else it opened. */
export function openContext(
  terminal: Terminal,
  flags: SharedFlags,
): CommandContext & { readonly close: () => Promise<void> } {
  const colour = mayColour(flags.color ?? "auto", terminal);
  const output = new Output(terminal, { format: flags.output ?? "table", quiet: flags.quiet === true, colour });
  const mayAsk = flags.input !== false && terminal.isTerminal.stdin && terminal.isTerminal.stderr;
  const closing: (() => Promise<void>)[] = [];
  const timeout = (fallback: number): number => timeoutOf(flags.timeout) ?? fallback;
  const place = once(() => findPlace(terminal, flags));
  const connect = async (
    gateway: ChosenGateway,
    credentials: GatewayCredentials | undefined,
  ): Promise<GatewayClient> => {
    const opened = await openClient(terminal, flags, gateway, credentials, timeout(requestTimeout), output);
    closing.push(opened.close);
    return opened.client;
  };
  return {
    terminal,
    output,
    mayAsk,
    timeout,
    connect,
    chosenGateway: async () => (await place()).gateway,
    gateway: once(async () => {
      const { gateway, local } = await place();
      if (gateway.note !== undefined) output.note(gateway.note);
      const { chooseCredentials } = await import("./gateways/choose-credentials.ts");
      return connect(gateway, await chooseCredentials({ gateway, flags, terminal, local }));
    }),
    namespace: async () => {
      if (flags.namespace !== undefined) return flags.namespace;
      const { namespace, gateway } = await place();
      return namespace ?? gateway.context?.namespace;
    },
    confirm: async (question) => {
      if (flags.yes === true) return;
      if (!mayAsk) throw usageError(`Cannot ask "${question}": there is no terminal; say --yes`);
      const { askToConfirm } = await import("./output/ask.ts");
      await askToConfirm(question, terminal.signal);
    },
    onClose: (close) => void closing.push(close),
    close: async () => {
      for (const close of closing.splice(0).toReversed()) await close();
    },
  };
}

async function findPlace(terminal: Terminal, flags: SharedFlags): Promise<Place> {
  const { chooseGateway } = await import("./gateways/choose-gateway.ts");
  const { configFiles } = await import("./gateways/config-directory.ts");
  const { readContexts } = await import("./gateways/contexts.ts");
  const { findLocalWeir } = await import("./gateways/local-weir.ts");
  const { projectHead } = await import("./project/project-head.ts");
  const { contexts } = configFiles(terminal);
  const [known, local, project] = await Promise.all([
    readContexts(contexts),
    findLocalWeir(terminal.directory, terminal.uid),
    projectHead(terminal.directory, { environment: terminal.environment, environmentFiles: flags.envFile }),
  ]);
  const gateway = chooseGateway({
    flag: flags.gateway,
    contextFlag: flags.context,
    environment: terminal.environment,
    project: project?.gateway,
    local: local?.address,
    contexts: known,
  });
  return { gateway, local, namespace: project?.namespace };
}

async function openClient(
  terminal: Terminal,
  flags: SharedFlags,
  { address, context }: ChosenGateway,
  credentials: GatewayCredentials | undefined,
  timeout: number,
  output: Output,
): Promise<{ readonly client: GatewayClient; readonly close: () => Promise<void> }> {
  const { openDispatcher } = await import("./client/dispatcher.ts");
  const { GatewayClient: Client } = await import("./client/gateway-client.ts");
  const tls: TlsFiles = { ...context, ...flaggedTls(flags, terminal.directory) };
  if (tls.tlsInsecure === true)
    output.warn("Any certificate is accepted: whoever is on the way can read and change all");
  const dispatcher = await openDispatcher(address, tls, timeout);
  const debug = flags.debug === true ? (lines: string): void => void terminal.stderr.write(lines) : undefined;
  const { signal, uid } = terminal;
  const options = { address, dispatcher, timeout, signal, debug };
  const renew = async (): Promise<GatewayCredentials> => {
    const { configFiles } = await import("./gateways/config-directory.ts");
    const { renewSignIn } = await import("./sign-in/renew-sign-in.ts");
    const gateway = new Client({ ...options, credentials: undefined });
    return renewSignIn({ file: configFiles(terminal).credentials, uid, gateway, access: { tls, signal, debug } });
  };
  return { client: new Client({ ...options, credentials, renew }), close: () => dispatcher.destroy() };
}

/** The TLS options that were given, with absolute paths. */
export function flaggedTls({ caFile, certFile, keyFile, tlsInsecure }: SharedFlags, directory: string): TlsFiles {
  const path = (file: string | undefined): string | undefined => (file === undefined ? file : resolve(directory, file));
  const given = { caFile: path(caFile), certFile: path(certFile), keyFile: path(keyFile), tlsInsecure };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  if (duration === undefined || duration === 0 || duration > 2 ** 31 - 1)
    throw usageError(`Cannot use --timeout "${text}": it must be a duration from 1ms to 24 days, as in 30s or 2m`);
  return duration;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
