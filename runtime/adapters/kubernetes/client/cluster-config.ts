import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { readCaFile, readTokenFile, type FileSource, type TokenSource } from "./token-file.ts";

/** How one API server is reached, and as whom. */
export interface ClusterConfig {
  /** `https://host:port`, with a path when the server is below one. */
  readonly server: string;
  /** PEM; the authorities that the server's certificate must be signed by. Without it, those that Node trusts. */
  readonly ca?: string;
  /** The same from a file that changes while the process runs; takes precedence over `ca`. */
  readonly caFile?: FileSource;
  /** PEM; a client certificate and its key. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** The name in the server's certificate when it differs from the host in `server`. */
  readonly serverName?: string;
  readonly token?: TokenSource;
  /** The namespace of the pod, or of the kubeconfig's context. */
  readonly namespace?: string;
}

/** Where a pod finds its API server and its account. */
export interface PodSettings {
  /** `KUBERNETES_SERVICE_HOST`. */
  readonly host: string;
  /** `KUBERNETES_SERVICE_PORT`. */
  readonly port: number;
  /** Where the service account is mounted. */
  readonly directory?: string;
}

const accountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The API server of the cluster this process runs in, as the pod's service account.
 * @throws PlatformError `provider_unavailable` when the account is not mounted
 */
export async function readPodConfig({ host, port, directory = accountDirectory }: PodSettings): Promise<ClusterConfig> {
  const tokenPath = join(directory, "token");
  try {
    const [caFile, namespace, token] = await Promise.all([
      readCaFile(join(directory, "ca.crt")),
      readFile(join(directory, "namespace"), "utf8").catch(() => ""),
      readTokenFile(tokenPath),
    ]);
    const config = { server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, caFile, token };
    return namespace.trim() === "" ? config : { ...config, namespace: namespace.trim() };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const sentence = `Cannot use the service account in "${directory}": ${why}`;
    throw new PlatformError("provider_unavailable", sentence, { cause });
  }
}
