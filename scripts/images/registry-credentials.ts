import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";
import type { RegistryCredentials } from "./registry-client.ts";

/** The user that pushes, as typed, with the password in a file. */
export interface TypedCredentials {
  readonly user?: string;
  readonly passwordFile?: string;
}

/**
 * The typed credentials, else those that `docker login` stored for the host in its file; undefined without either.
 * @throws Error with a sentence when a file cannot be read, or when only a helper program has the password
 */
export async function registryCredentials(
  host: string,
  typed: TypedCredentials,
): Promise<RegistryCredentials | undefined> {
  const { user, passwordFile } = typed;
  if (user !== undefined && passwordFile !== undefined)
    return { user, password: (await readFile(passwordFile, "utf8")).replace(/\r?\n$/, "") };
  if (user !== undefined || passwordFile !== undefined)
    throw new Error("Cannot push: --user and --password-file need each other");

  const file = join(environment()["DOCKER_CONFIG"] ?? join(homedir(), ".docker"), "config.json");
  const text = await readFile(file, "utf8").catch(() => "{}");
  const { auths = {}, credHelpers = {}, credsStore } = readJson(text, file);
  const encoded = (auths[host] ?? auths[`https://${host}`])?.auth;
  if (encoded !== undefined) {
    const [name = "", ...rest] = Buffer.from(encoded, "base64").toString().split(":");
    return { user: name, password: rest.join(":") };
  }
  if (credHelpers[host] !== undefined || (credsStore !== undefined && host in auths))
    throw new Error(
      `Cannot push to "${host}": "${file}" leaves its password to a helper; say --user and --password-file`,
    );
  return undefined;
}

interface DockerConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

function readJson(text: string, file: string): DockerConfig {
  try {
    return JSON.parse(text) as DockerConfig;
  } catch (cause) {
    throw new Error(`Cannot read "${file}": it is not JSON`, { cause });
  }
}
