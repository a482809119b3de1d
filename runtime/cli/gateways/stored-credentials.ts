import { stat } from "node:fs/promises";

import { parse, stringify } from "yaml";

import { CliError } from "../cli-error.ts";
import type { GatewayCredentials, SignIn } from "../client/gateway-credentials.ts";
import { exitCode } from "../exit-code.ts";
import { changeFile, readIfThere, whileLocked } from "./locked-file.ts";

/** By the gateway's address. */
export type AddressedCredentials = Readonly<Record<string, GatewayCredentials>>;

/**
 * The credentials stored for exactly this address; undefined when there are none.
 * @throws CliError when others can read the file
 */
export async function storedCredentials(
  file: string,
  address: string,
  uid?: number,
): Promise<GatewayCredentials | undefined> {
  const text = await readIfThere(file);
  if (text === "") return undefined;
  await checkPrivate(file, uid);
  const stored = parseStored(file, text);
  return Object.hasOwn(stored, address) ? stored[address] : undefined;
}

/** Stores the credentials for `address`, or removes them if undefined; those that there were before. */
export async function storeCredentials(
  file: string,
  address: string,
  credentials: GatewayCredentials | undefined,
): Promise<GatewayCredentials | undefined> {
  const { [address]: before } = await change(file, (stored) => {
    const { [address]: _, ...others } = stored;
    return credentials === undefined ? others : { ...others, [address]: credentials };
  });
  return before;
}

/** Removes the credentials for every address; those that there were. */
export async function removeAllCredentials(file: string): Promise<AddressedCredentials> {
  return change(file, () => ({}));
}

/**
 * Runs `work` while no other process renews, begins or ends a sign-in that is stored in `file`: issuers take a refresh
 * token that is used twice for a stolen one.
 * @throws CliError when another process does so for too long
 */
export async function whileNoOtherSignsIn<T>(file: string, work: () => Promise<T>): Promise<T> {
  return whileLocked(`${file}.sign-in`, work);
}

/** What was stored before. */
async function change(
  file: string,
  changed: (stored: AddressedCredentials) => AddressedCredentials,
): Promise<AddressedCredentials> {
  if ((await readIfThere(file)) !== "") await checkPrivate(file);
  let before: AddressedCredentials = {};
  await changeFile(file, (text) => {
    before = parseStored(file, text);
    return stringify(changed(before));
  });
  return before;
}

/**
 * Checks that only the owner can read a file of credentials, and that this user or root owns it.
 * @throws CliError otherwise
 */
async function checkPrivate(file: string, uid: number | undefined = process.getuid?.()): Promise<void> {
  if (uid === undefined) return;
  const found = await stat(file);
  const refuse = (reason: string): never => {
    throw new CliError(exitCode.credentials, `Cannot use credentials: "${file}" ${reason}`);
  };
  if (found.uid !== uid && found.uid !== 0) refuse(`belongs to another user`);
  if ((found.mode & 0o077) !== 0) refuse("can be read by others; chmod 600 it");
}

function parseStored(file: string, text: string): AddressedCredentials {
  const refuse = (): never => {
    throw new CliError(exitCode.credentials, `Cannot use credentials: "${file}" cannot be read; correct or remove it`);
  };
  let value: unknown;
  try {
    value = parse(text, { logLevel: "error" });
  } catch {
    return refuse();
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || !Object.values(value).every(isCredentials)) return refuse();
  return value as AddressedCredentials;
}

function isCredentials(value: unknown): value is GatewayCredentials {
  const { kind, user, password, token, signIn } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return kind === "bearer"
    ? typeof token === "string" && (signIn === undefined || isSignIn(signIn))
    : kind === "basic" && typeof user === "string" && typeof password === "string";
}

function isSignIn(value: unknown): value is SignIn {
  const { expiresAt, issuer, clientId, refreshToken } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof expiresAt === "string" &&
    !Number.isNaN(Date.parse(expiresAt)) &&
    typeof issuer === "string" &&
    URL.canParse(issuer) &&
    typeof clientId === "string" &&
    (refreshToken === undefined || typeof refreshToken === "string")
  );
}
