import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import Provider, { type ClientMetadata, type Configuration } from "oidc-provider";

import { tokenKey } from "./token-keys.ts";

/** An OpenID provider (the package `oidc-provider`) on a real port of 127.0.0.1. */
export interface OidcIssuer extends AsyncDisposable {
  /** Its `iss`. */
  readonly url: string;
  readonly provider: Provider;
}

/** Opens one with these clients, which signs by `alg`; every name and password can sign in. */
export async function openOidcIssuer(
  clients: readonly ClientMetadata[],
  configuration: Configuration = {},
  alg: "RS256" | "ES256" = "RS256",
): Promise<OidcIssuer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = await tokenKey(alg, "oidc");
  const { exportJWK } = await import("jose");
  const jwk = { ...(await exportJWK(key.privateKey)), kid: key.kid, alg: key.alg, use: "sig" };
  const provider = new Provider(url, {
    clients: [...clients],
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key of a test"] },
    clientDefaults: { id_token_signed_response_alg: alg },
    ...configuration,
    features: { deviceFlow: { enabled: true }, ...configuration.features },
  });
  const respond = provider.callback();
  server.on("request", (request, response) => void respond(request, response));
  return {
    url,
    provider,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What came of a visit: the last reply, and the address that it is of. */
export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/** Most pages of one visit. */
const mostPages = 20;

/** A browser of a person who fills in every form of an issuer, and clicks through to the end. */
export class FormBrowser {
  readonly #name: string;
  readonly #cookies = new Map<string, string>();

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Visits an address, follows its redirects and submits its forms, until a page has none, or leads to an address that
   * begins with `end`: that is not visited.
   */
  async visit(start: string, end?: string): Promise<Visited> {
    let [url, form]: [string, URLSearchParams | undefined] = [start, undefined];
    for (let page = 0; page < mostPages; page += 1) {
      const response = await this.#send(url, form);
      const text = await response.text();
      const location = response.headers.get("location");
      const next = location === null ? formIn(text, this.#name) : { action: location, fields: undefined };
      if (next === undefined) return { url, status: response.status, text };
      [url, form] = [new URL(next.action, url).href, next.fields];
      if (end !== undefined && url.startsWith(end)) return { url, status: response.status, text };
    }
    throw new Error(`${start} has more than ${mostPages} pages`);
  }

  async #send(url: string, form: URLSearchParams | undefined): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      redirect: "manual",
      headers: cookie === "" ? {} : { cookie },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }
}

function formIn(html: string, name: string): { readonly action: string; readonly fields: URLSearchParams } | undefined {
  const [, head = "", body = ""] = /<form([^>]*)>(.*?)<\/form>/s.exec(html) ?? [];
  const action = attribute(head, "action");
  if (action === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [input] of body.matchAll(/<input[^>]*>/g)) {
    const field = attribute(input, "name");
    if (field !== undefined) fields.set(field, attribute(input, "value") ?? name);
  }
  // The first button that says something is pressed, which may stand outside of the form; nobody aborts.
  for (const [button] of html.matchAll(/<button[^>]*>/g)) {
    const [pressed, value] = [attribute(button, "name"), attribute(button, "value")];
    if (pressed === undefined || value === undefined || pressed === "abort") continue;
    fields.set(pressed, value);
    break;
  }
  return { action, fields };
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll("&amp;", "&");
}
