import { stat } from "node:fs/promises";

import { parse, stringify } from "yaml";

import { CliError } from "../cli-error.ts";
import type { GatewayCredentials } from "../client/gateway-credentials.ts";
import { exitCode } from "../exit-code.ts";
import { changeFile, readIfThere } from "./locked-file.ts";

type Stored = Readonly<Record<string, GatewayCredentials>>;

/**
 * The credentials stored for exactly this address; undefined when there are none.
 * @throws CliError when others can read the file
 */
export async function storedCredentials(file: string, address: string): Promise<GatewayCredentials | undefined> {
  const text = await readIfThere(file);
  if (text === "") return undefined;
  await checkPrivate(file);
  return parseStored(file, text)[address];
}

/** Stores the credentials for `address`, or removes them if undefined. */
export async function storeCredentials(file: string, address: string, credentials?: GatewayCredentials): Promise<void> {
  await changeFile(file, (text) => {
    const { [address]: _, ...others } = parseStored(file, text);
    return stringify(credentials === undefined ? others : { ...others, [address]: credentials });
  });
}

/**
 * Checks that only the owner can read a file of credentials, and that this user or root owns it.
 * @throws CliError otherwise
 */
export async function checkPrivate(file: string, uid: number | undefined = process.getuid?.()): Promise<void> {
  if (uid === undefined) return;
  const found = await stat(file);
  const refuse = (reason: string): never => {
    throw new CliError(exitCode.credentials, `Cannot use credentials: "${file}" ${reason}`);
  };
  if (found.uid !== uid && found.uid !== 0) refuse(`belongs to another user`);
  if ((found.mode & 0o077) !== 0) refuse("can be read by others; chmod 600 it");
}

function parseStored(file: string, text: string): Stored {
  const refuse = (): never => {
    throw new CliError(exitCode.credentials, `Cannot use credentials: "${file}" cannot be read; correct or remove it`);
  };
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return refuse();
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || !Object.values(value).every(isCredentials)) return refuse();
  return value as Stored;
}

function isCredentials(value: unknown): value is GatewayCredentials {
  const { kind, user, password, token } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return kind === "bearer"
    ? typeof token === "string"
    : kind === "basic" && typeof user === "string" && typeof password === "string";
}
