import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { parseYaml } from "../../../api/yaml-document.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { fixedToken, readTokenFile } from "./token-file.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** Why a kubeconfig is refused, by the key that is not supported. */
const refusals: Readonly<Record<string, string>> = {
  exec: "its user runs a program to log in; use a token or a client certificate",
  "auth-provider": "its user logs in by a plugin; use a token or a client certificate",
  username: "its user has a password, which API servers no longer accept; use a token or a client certificate",
  as: "its user impersonates another one, which Weir does not support",
  "insecure-skip-tls-verify": "its cluster turns TLS verification off; give its certificate-authority",
  "proxy-url": "its cluster is behind a proxy, which Weir does not support",
};

/**
 * The cluster and user of a context of a kubeconfig file: the current one unless `context` names another. Relative
 * paths in the file start at its own directory.
 * @throws PlatformError `provider_unavailable` that names the file and says what is missing or not supported
 */
export async function readKubeconfig(path: string, context?: string): Promise<ClusterConfig> {
  try {
    const file = mapping(parseYaml(await readFile(path)), "it");
    return await configOf(file, dirname(path), context ?? text(file, "current-context"));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformError("provider_unavailable", `Cannot use kubeconfig "${path}": ${why}`, { cause });
  }
}

async function configOf(file: Mapping, directory: string, name: string | undefined): Promise<ClusterConfig> {
  if (name === undefined) throw new Error("it has no current-context");
  const context = named(file, "contexts", "context", name);
  const cluster = named(file, "clusters", "cluster", needed(context, "cluster"));
  const user = named(file, "users", "user", needed(context, "user"));
  for (const [key, sentence] of Object.entries(refusals)) {
    const value = user[key] ?? cluster[key];
    if (value !== undefined && value !== false && value !== null && value !== "") throw new Error(sentence);
  }
  const server = needed(cluster, "server");
  if (!/^https?:$/.test(new URL(server).protocol)) throw new Error("its server is not an http or https address");
  const [ca, cert, key] = await Promise.all([
    pem(cluster, "certificate-authority", directory),
    pem(user, "client-certificate", directory),
    pem(user, "client-key", directory),
  ]);
  if ((cert === undefined) !== (key === undefined)) throw new Error("its client certificate and key go together");
  const token = await tokenOf(user, directory);
  const serverName = text(cluster, "tls-server-name");
  const namespace = text(context, "namespace");
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(token === undefined ? {} : { token }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** The file wins over the token beside it, as with kubectl. */
async function tokenOf(user: Mapping, directory: string) {
  const file = text(user, "tokenFile");
  if (file !== undefined) return readTokenFile(resolve(directory, file));
  const token = text(user, "token");
  return token === undefined ? undefined : fixedToken(token);
}

/** Text in base64 under `<key>-data` wins over the file that `<key>` names. */
async function pem(of: Mapping, key: string, directory: string): Promise<string | undefined> {
  const data = text(of, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const path = text(of, key);
  return path === undefined ? undefined : readFile(resolve(directory, path), "utf8");
}

/** The entry called `name` of a list of `{name, <key>}`. */
function named(file: Mapping, list: string, key: string, name: string): Mapping {
  const items = file[list];
  if (!Array.isArray(items)) throw new Error(`it has no ${list}`);
  const found = items.map((item) => mapping(item, `an item of ${list}`)).find((item) => item["name"] === name);
  if (found === undefined) throw new Error(`it has no ${key} "${name}"`);
  return mapping(found[key] ?? {}, `${key} "${name}"`);
}

function mapping(value: unknown, what: string): Mapping {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Mapping;
  throw new Error(`${what} is not a mapping`);
}

function text(of: Mapping, key: string): string | undefined {
  const value = of[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function needed(of: Mapping, key: string): string {
  const value = text(of, key);
  if (value === undefined) throw new Error(`a ${key} is not named`);
  return value;
}
