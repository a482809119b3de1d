import type { Configuration, CustomFetch, FetchBody } from "openid-client";

import { CliError } from "../cli-error.ts";
import { debugLines } from "../client/debug-log.ts";
import { openDispatcher, type TlsFiles } from "../client/dispatcher.ts";
import type { SignIn } from "../client/gateway-credentials.ts";
import { readLimited } from "../client/read-limited.ts";
import { unreachable } from "../client/unreachable.ts";
import { errorMessage } from "../error-message.ts";
import { exitCode, type ExitCode } from "../exit-code.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";
import { escapeLine } from "../output/escape-text.ts";

/** Milliseconds for a request to an issuer. */
const requestTimeout = 10_000;
/** Most bytes of a reply. */
const mostBytes = 262_144;
/** Most characters of an address in a sentence. */
const mostAddress = 200;

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
  /** What the issuer's refusal, or a reply that cannot be used, is to the person. */
  readonly failure: (err: unknown) => CliError;
  close(): Promise<void>;
}

/**
 * Reads the description of an issuer. No request follows a redirect or goes without TLS, but to this machine. `purpose`
 * begins the sentences of failures.
 * @throws CliError when that fails
 */
export async function openIssuerClient(
  { issuer, clientId }: Pick<SignIn, "issuer" | "clientId">,
  access: IssuerAccess,
  purpose = `Cannot sign in with ${issuer}`,
): Promise<IssuerClient> {
  const failure = (err: unknown): CliError => issuerError(purpose, err);
  checkedUrl(issuer);
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
      throw cause instanceof CliError ? cause : unreachable(origin, requestTimeout, cause, "the issuer");
    }
  };
  try {
    const config = await discovery(new URL(issuer), clientId, { token_endpoint_auth_method: "none" }, None(), {
      [customFetch]: fetchFromIssuer,
      // What goes without TLS is decided above.
      execute: isUnencrypted(issuer) ? [allowInsecureRequests] : [],
    });
    return { config, failure, close };
  } catch (err) {
    await close();
    throw failure(err);
  }
}

function issuerError(purpose: string, err: unknown): CliError {
  for (let at: unknown = err; at instanceof Error; at = at.cause) if (at instanceof CliError) return at;
  const { error, error_description: description } = (err ?? {}) as {
    readonly error?: unknown;
    readonly error_description?: unknown;
  };
  const refuse = (exit: ExitCode, reason: string, code?: string): CliError =>
    new CliError(exit, escapeLine(`${purpose}: ${reason}`), { code, cause: err });
  if (typeof error !== "string") return refuse(exitCode.unavailable, `its reply cannot be used: ${reasonOf(err)}`);
  const why = typeof description === "string" ? `${error} (${description})` : error;
  return refuse(exitCode.credentials, `it replied ${why}`, error);
}

/** The library says what is wrong in the cause, which may be the reply itself. */
function reasonOf(err: unknown): string {
  const message = errorMessage(err);
  const cause = err instanceof Error ? err.cause : undefined;
  if (cause instanceof Response) {
    const type = cause.headers.get("content-type") ?? "no content-type";
    return `${message} (status ${cause.status}, ${type})`;
  }
  return cause instanceof Error && cause.message !== "" ? `${message} (${cause.message})` : message;
}

/** What is sent to an issuer is a form, or nothing. */
function formText(body: FetchBody): string | null {
  return typeof body === "string" ? body : body instanceof URLSearchParams ? body.toString() : null;
}

/**
 * The address of an issuer, or one that it named, as a URL.
 * @throws CliError when it is neither https nor http of this machine
 */
export function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "https:" || isUnencrypted(text))) return url;
  // Nobody is to follow the rest of it.
  const shown = url === null ? text.slice(0, mostAddress) : `${url.protocol}//${url.host}`;
  const reason = url === null ? "it is not a URL" : "expected https, or http of this machine";
  throw new CliError(exitCode.unavailable, escapeLine(`Cannot use address "${shown}" of an issuer: ${reason}`));
}

/** Whether it is an address of this machine without TLS. */
function isUnencrypted(address: string): boolean {
  return address.startsWith("http:") && isLoopbackAddress(address);
}
