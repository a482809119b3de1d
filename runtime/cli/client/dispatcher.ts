import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, getCACertificates } from "node:tls";

import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";

import { usageError } from "../cli-error.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";
import { errorMessage } from "../error-message.ts";

/** How the other side is verified, and who we are to it; paths of PEM files. */
export interface TlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Any certificate is accepted. */
  readonly tlsInsecure?: boolean | undefined;
}

/** Milliseconds until a connection is there, if no request is given up sooner. */
const connectTimeout = 10_000;

export interface TrustOptions {
  /** Whether the authorities of `caFile` are trusted beside those of the system, and not in their place. */
  readonly addsToSystem?: boolean;
}

/**
 * Connections to `address`, given up after `timeout` milliseconds: through the proxy that `HTTP_PROXY`, `HTTPS_PROXY`
 * and `NO_PROXY` say, but never to this machine.
 * @throws CliError when a file or proxy cannot be used
 */
export async function openDispatcher(
  address: string,
  tls: TlsFiles,
  timeout: number,
  { addsToSystem = false }: TrustOptions = {},
): Promise<Dispatcher> {
  const { ca } = await pem("ca", "--ca-file", tls.caFile);
  const requestTls = {
    rejectUnauthorized: tls.tlsInsecure !== true,
    ...(ca && { ca: addsToSystem ? [...getCACertificates(), ca] : ca }),
    ...(await pem("cert", "--cert-file", tls.certFile)),
    ...(await pem("key", "--key-file", tls.keyFile)),
  };
  checkTls(requestTls);
  const connect = { ...requestTls, timeout: Math.min(timeout, connectTimeout) };
  if (isLoopbackAddress(address)) return new Agent({ connect });
  try {
    return new EnvHttpProxyAgent({ connect, requestTls, connectTimeout: connect.timeout });
  } catch (cause) {
    throw usageError(`Cannot use the proxy of HTTP_PROXY or HTTPS_PROXY: ${errorMessage(cause)}`);
  }
}

type Pem = Readonly<Partial<Record<"ca" | "cert" | "key", Buffer>>>;

async function pem(key: keyof Pem, flag: string, file: string | undefined): Promise<Pem> {
  if (file === undefined) return {};
  try {
    const content = await readFile(file);
    // The library takes any text for authorities, and trusts none of them.
    if (key === "ca") void new X509Certificate(content);
    return { [key]: content };
  } catch (cause) {
    throw usageError(`Cannot use "${file}" of ${flag}: ${errorMessage(cause)}`);
  }
}

function checkTls({ cert, key }: Pick<Pem, "cert" | "key">): void {
  if ((cert === undefined) !== (key === undefined))
    throw usageError("Cannot show a certificate: --cert-file and --key-file are needed both");
  try {
    if (cert !== undefined && key !== undefined) createSecureContext({ cert, key });
  } catch (cause) {
    throw usageError(`Cannot use the files of --cert-file and --key-file: ${errorMessage(cause)}`);
  }
}
