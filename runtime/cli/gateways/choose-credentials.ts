import { readFile } from "node:fs/promises";

import { CliError, usageError } from "../cli-error.ts";
import type { GatewayCredentials } from "../client/gateway-credentials.ts";
import { exitCode } from "../exit-code.ts";
import type { Terminal } from "../terminal.ts";
import type { ChosenGateway } from "./choose-gateway.ts";
import { configFiles } from "./config-directory.ts";
import { isLoopbackAddress } from "./gateway-address.ts";
import { localCredentials, type LocalWeir } from "./local-weir.ts";
import { readSecretInput } from "./read-secret-input.ts";
import { storedCredentials } from "./stored-credentials.ts";

/** Flags that say whose credentials are sent. */
export interface CredentialFlags {
  readonly user?: string;
  readonly passwordFile?: string;
  readonly passwordStdin?: boolean;
  readonly tokenFile?: string;
  readonly insecureHttp?: boolean;
}

export interface CredentialPlace {
  readonly gateway: ChosenGateway;
  readonly flags: CredentialFlags;
  readonly terminal: Terminal;
  readonly local: LocalWeir | undefined;
}

/**
 * The credentials for a gateway: of flags, then of the environment, then those stored for this address, then those of
 * a Weir of this directory if the gateway is on this machine.
 * @throws CliError when they cannot be read, or would cross a network without TLS
 */
export async function chooseCredentials(place: CredentialPlace): Promise<GatewayCredentials | undefined> {
  const found = await findCredentials(place);
  const { address } = place.gateway;
  if (
    found === undefined ||
    address.startsWith("https:") ||
    isLoopbackAddress(address) ||
    place.flags.insecureHttp === true
  )
    return found;
  throw usageError(
    `Cannot send credentials to ${address}: without TLS anybody on the way can read them; use https, or say --insecure-http`,
  );
}

async function findCredentials({
  gateway,
  flags,
  terminal,
  local,
}: CredentialPlace): Promise<GatewayCredentials | undefined> {
  const { address, byProject } = gateway;
  return (
    (await ofFlags(flags, terminal)) ??
    (byProject ? undefined : await ofEnvironment(terminal)) ??
    (await storedCredentials(configFiles(terminal).credentials, address)) ??
    (local !== undefined && isLoopbackAddress(address) && (local.address ?? address) === address
      ? await localCredentials(local, terminal.uid)
      : undefined)
  );
}

async function ofFlags(flags: CredentialFlags, terminal: Terminal): Promise<GatewayCredentials | undefined> {
  const { user, passwordFile, passwordStdin = false, tokenFile } = flags;
  const ways = [passwordFile !== undefined, passwordStdin, tokenFile !== undefined].filter(Boolean).length;
  if (ways > 1)
    throw usageError("Cannot choose credentials: give one of --password-file, --password-stdin and --token-file");
  if (tokenFile !== undefined) return { kind: "bearer", token: await secretFile(tokenFile, "--token-file") };
  if (passwordFile !== undefined)
    return { kind: "basic", user: user ?? "admin", password: await secretFile(passwordFile, "--password-file") };
  if (passwordStdin) return { kind: "basic", user: user ?? "admin", password: await readSecretInput(terminal) };
  if (user === undefined) return undefined;
  throw usageError("Cannot use --user: give its password with --password-file or --password-stdin");
}

async function ofEnvironment({ environment }: Terminal): Promise<GatewayCredentials | undefined> {
  const { WEIR_TOKEN: token, WEIR_USER: user, WEIR_PASSWORD_FILE: file } = environment;
  if (token !== undefined && token !== "") return { kind: "bearer", token };
  if (file === undefined || file === "") return undefined;
  return { kind: "basic", user: user ?? "admin", password: await secretFile(file, "WEIR_PASSWORD_FILE") };
}

/** The content of a file that holds a secret, without the white space around it. */
async function secretFile(path: string, source: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(exitCode.credentials, `Cannot read "${path}" of ${source}: ${reason}`, { cause });
  });
  if (text.trim() !== "") return text.trim();
  throw new CliError(exitCode.credentials, `Cannot use "${path}" of ${source}: it is empty`);
}
