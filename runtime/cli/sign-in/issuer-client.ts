import type { Configuration, CustomFetch, FetchBody } from "openid-client";

import { CliError } from "../cli-error.ts";
import { debugLines } from "../client/debug-log.ts";
import { openDispatcher, type TlsFiles } from "../client/dispatcher.ts";
import { readLimited } from "../client/read-limited.ts";
import { unreachable } from "../client/unreachable.ts";
import { exitCode } from "../exit-code.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";

/** Milliseconds for a request to an issuer. */
const requestTimeout = 10_000;
/** Most bytes of a reply. */
const mostBytes = 262_144;

export interface IssuerAccess {
  /** Authorities of `caFile` are trusted beside those of the system; the rest is for the gateway alone. */
  readonly tls: TlsFiles;
  readonly signal: AbortSignal;
  /** Gets what `--debug` prints. */
  readonly debug: ((lines: string) => void) | undefined;
}

/** A client at an issuer that is known by its id alone. */
export interface IssuerClient {
  readonly config: Configuration;
  close(): Promise<void>;
}

/**
 * Reads the description of an issuer. No request follows a redirect or goes without TLS, but to this machine.
 * @throws CliError when that fails
 */
export async function openIssuerClient(
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  access: IssuerAccess,
): Promise<IssuerClient> {
  const { allowInsecureRequests, customFetch, discovery, None } = await import("openid-client");
  const dispatcher = await openDispatcher(issuer, { caFile: access.tls.caFile }, requestTimeout, {
    addsToSystem: true,
  });
  const close = (): Promise<void> => dispatcher.destroy();
  const fetchFromIssuer: CustomFetch = async (url, { method, headers, body, signal }) => {
    const { origin, pathname, search } = checkedUrl(url);
    access.debug?.(debugLines(`> ${method} ${origin}${pathname}`, headers));
    try {
      const reply = await dispatcher.request({
        origin,
        path: pathname + search,
        method,
        headers,
        body: formText(body),
        signal: signal === undefined ? access.signal : AbortSignal.any([access.signal, signal]),
        headersTimeout: requestTimeout,
        bodyTimeout: requestTimeout,
      });
      access.debug?.(debugLines(`< ${reply.statusCode}`, reply.headers));
      const text = await readLimited(reply.body, mostBytes, `the reply of ${origin}`);
      return new Response(text === "" ? null : text, {
        status: reply.statusCode,
        headers: Object.entries(reply.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((each): [string, string] => [name, each]),
        ),
      });
    } catch (cause) {
      throw cause instanceof CliError ? cause : unreachable(origin, requestTimeout, cause);
    }
  };
  try {
    const config = await discovery(new URL(issuer), clientId, { token_endpoint_auth_method: "none" }, None(), {
      [customFetch]: fetchFromIssuer,
      // What goes without TLS is decided above.
      execute: isUnencrypted(issuer) ? [allowInsecureRequests] : [],
    });
    return { config, close };
  } catch (err) {
    await close();
    throw issuerError(issuer, err);
  }
}

/** What an issuer's refusal, or a reply that cannot be used, is to the person who signs in. */
export function issuerError(issuer: string, err: unknown): CliError {
  for (let at: unknown = err; at instanceof Error; at = at.cause) if (at instanceof CliError) return at;
  const { error, error_description: description } = (err ?? {}) as {
    readonly error?: unknown;
    readonly error_description?: unknown;
  };
  const failure = `Cannot sign in with ${issuer}`;
  if (typeof error === "string") {
    const why = typeof description === "string" ? `${error} (${description})` : error;
    return new CliError(exitCode.credentials, `${failure}: it replied ${why}`, { code: error, cause: err });
  }
  const reason = err instanceof Error ? err.message : String(err);
  return new CliError(exitCode.unavailable, `${failure}: its reply cannot be used: ${reason}`, { cause: err });
}

/** What is sent to an issuer is a form, or nothing. */
function formText(body: FetchBody): string | null {
  return typeof body === "string" ? body : body instanceof URLSearchParams ? body.toString() : null;
}

/**
 * An address that an issuer named, as a URL.
 * @throws CliError when it is neither https nor http of this machine
 */
export function checkedUrl(text: string): URL {
  const url = new URL(text);
  if (url.protocol === "https:" || isUnencrypted(text)) return url;
  throw new CliError(
    exitCode.unavailable,
    `Cannot use address "${url.protocol}//${url.host}" of an issuer: it has no TLS`,
  );
}

/** Whether it is an address of this machine without TLS. */
function isUnencrypted(address: string): boolean {
  return address.startsWith("http:") && isLoopbackAddress(address);
}
