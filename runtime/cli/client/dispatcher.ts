import { readFile } from "node:fs/promises";

import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";

import { usageError } from "../cli-error.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";

/** How the other side is verified, and who we are to it; paths of PEM files. */
export interface TlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Any certificate is accepted. */
  readonly tlsInsecure?: boolean | undefined;
}

/** Milliseconds until a connection is there. */
const connectTimeout = 10_000;

/**
 * Connections to `address`: through the proxy that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` say, but never to this
 * machine.
 * @throws CliError when a file cannot be read
 */
export async function openDispatcher(address: string, tls: TlsFiles): Promise<Dispatcher> {
  const connect = {
    timeout: connectTimeout,
    rejectUnauthorized: tls.tlsInsecure !== true,
    ...(await pem("ca", "--ca-file", tls.caFile)),
    ...(await pem("cert", "--cert-file", tls.certFile)),
    ...(await pem("key", "--key-file", tls.keyFile)),
  };
  const { timeout: _, ...requestTls } = connect;
  return isLoopbackAddress(address) ? new Agent({ connect }) : new EnvHttpProxyAgent({ connect, requestTls });
}

async function pem(key: "ca" | "cert" | "key", flag: string, file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  try {
    return { [key]: await readFile(file) };
  } catch (cause) {
    throw usageError(`Cannot read "${file}" of ${flag}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
