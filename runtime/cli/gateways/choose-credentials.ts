import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { CliError, usageError } from "../cli-error.ts";
import type { GatewayCredentials } from "../client/gateway-credentials.ts";
import { exitCode } from "../exit-code.ts";
import type { Terminal } from "../terminal.ts";
import type { ChosenGateway } from "./choose-gateway.ts";
import { configFiles } from "./config-directory.ts";
import { isLoopbackAddress } from "./gateway-address.ts";
import { listensAt, localCredentials, type LocalWeir } from "./local-weir.ts";
import { readSecretInput } from "./read-secret-input.ts";
import { storedCredentials } from "./stored-credentials.ts";
import { errorMessage } from "../error-message.ts";

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
  if (found !== undefined) checkTransport(place.gateway.address, place.flags);
  return found;
}

/**
 * The credentials that flags give; undefined when there are none, also if they name a user alone.
 * @throws CliError when there is more than one, or they cannot be read
 */
export async function flaggedCredentials(
  { user = "admin", passwordFile, passwordStdin = false, tokenFile }: CredentialFlags,
  terminal: Terminal,
): Promise<GatewayCredentials | undefined> {
  const ways = [passwordFile !== undefined, passwordStdin, tokenFile !== undefined].filter(Boolean).length;
  if (ways > 1)
    throw usageError("Cannot choose credentials: give one of --password-file, --password-stdin and --token-file");
  if (tokenFile !== undefined)
    return {
      kind: "bearer",
      token: checkedToken(await secretFile(tokenFile, "--token-file", terminal), "--token-file"),
    };
  if (passwordFile !== undefined)
    return { kind: "basic", user, password: await secretFile(passwordFile, "--password-file", terminal) };
  return passwordStdin ? { kind: "basic", user, password: await readSecretInput(terminal) } : undefined;
}

/**
 * Checks that nobody on the way to `address` can read credentials.
 * @throws CliError when they would cross a network without TLS
 */
export function checkTransport(address: string, { insecureHttp }: CredentialFlags): void {
  if (address.startsWith("https:") || isLoopbackAddress(address) || insecureHttp === true) return;
  throw usageError(
    `Cannot send credentials to ${address}: without TLS anybody on the way can read them; use https, or say --insecure-http`,
  );
}

async function findCredentials(place: CredentialPlace): Promise<GatewayCredentials | undefined> {
  const { gateway, flags, terminal, local } = place;
  const given = await flaggedCredentials(flags, terminal);
  if (given === undefined && flags.user !== undefined)
    throw usageError("Cannot use --user: give its password with --password-file or --password-stdin");
  return (
    given ??
    (gateway.byProject ? undefined : await environmentCredentials(terminal)) ??
    (await storedCredentials(configFiles(terminal).credentials, gateway.address, terminal.uid)) ??
    (local !== undefined && listensAt(local, gateway.address) ? await localCredentials(local, terminal.uid) : undefined)
  );
}

async function environmentCredentials(terminal: Terminal): Promise<GatewayCredentials | undefined> {
  const { WEIR_TOKEN: token, WEIR_USER: user, WEIR_PASSWORD_FILE: file } = terminal.environment;
  if (token !== undefined && token !== "") return { kind: "bearer", token: checkedToken(token, "WEIR_TOKEN") };
  if (file === undefined || file === "") return undefined;
  return { kind: "basic", user: user || "admin", password: await secretFile(file, "WEIR_PASSWORD_FILE", terminal) };
}

/** The content of a file that holds a secret, without the white space around it. */
async function secretFile(path: string, source: string, { directory }: Terminal): Promise<string> {
  const text = await readFile(resolve(directory, path), "utf8").catch((cause: unknown) => {
    const reason = errorMessage(cause);
    throw new CliError(exitCode.credentials, `Cannot read "${path}" of ${source}: ${reason}`, { cause });
  });
  if (text.trim() !== "") return text.trim();
  throw new CliError(exitCode.credentials, `Cannot use "${path}" of ${source}: it is empty`);
}

/** A token that a header can carry. */
function checkedToken(token: string, source: string): string {
  if (/^[\x21-\x7E]+$/.test(token)) return token;
  throw new CliError(exitCode.credentials, `Cannot use the token of ${source}: it has white space or other characters`);
}
