import { text } from "node:stream/consumers";

import { issuerPaths, openTokenIssuer } from "./token-issuer.ts";
import { signToken } from "./token-keys.ts";

/** An issuer that rotates and revokes refresh tokens of anybody who has one; nobody can sign in at it. */
export interface RefreshIssuer extends AsyncDisposable {
  /** Its `iss`. */
  readonly url: string;
  /** Refresh tokens that are good now; each is so once. */
  readonly good: Set<string>;
  /** Forms of requests to revoke a token, in order. */
  readonly revocations: readonly URLSearchParams[];
  /** Status of the reply to them; undefined: its description names no address for them. May be set. */
  revocationStatus: number | undefined;
}

const paths = { token: "/token", revocation: "/revoke" } as const;

export async function openRefreshIssuer(): Promise<RefreshIssuer> {
  const issuer = await openTokenIssuer();
  const revocations: URLSearchParams[] = [];
  let given = 0;
  const opened: RefreshIssuer = {
    url: issuer.url,
    good: new Set(),
    revocations,
    revocationStatus: 200,
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
  issuer.replace(issuerPaths.description, (_request, response) => {
    const revocation_endpoint = opened.revocationStatus === undefined ? undefined : issuer.url + paths.revocation;
    const description = {
      issuer: issuer.url,
      token_endpoint: issuer.url + paths.token,
      id_token_signing_alg_values_supported: [issuer.key.alg],
      revocation_endpoint,
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(description));
  });
  issuer.replace(paths.token, (request, response) => {
    void (async () => {
      const form = new URLSearchParams(await text(request));
      response.setHeader("content-type", "application/json");
      if (!opened.good.delete(form.get("refresh_token") ?? "")) {
        response.writeHead(400).end('{"error":"invalid_grant"}');
        return;
      }
      given += 1;
      const next = `refresh-token-${given}`;
      opened.good.add(next);
      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: issuer.url, aud: form.get("client_id"), sub: "alice", iat: now, exp: now + 300 };
      const id_token = await signToken(issuer.key, claims);
      const reply = { access_token: "a", token_type: "Bearer", expires_in: 300, id_token, refresh_token: next };
      response.end(JSON.stringify(reply));
    })();
  });
  issuer.replace(paths.revocation, (request, response) => {
    void (async () => {
      const form = new URLSearchParams(await text(request));
      revocations.push(form);
      const status = opened.revocationStatus ?? 404;
      if (status === 200) opened.good.delete(form.get("token") ?? "");
      response.setHeader("content-type", "application/json").writeHead(status);
      response.end(status === 200 ? "" : '{"error":"invalid_client"}');
    })();
  });
  return opened;
}
