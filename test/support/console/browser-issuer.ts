import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { openOidcIssuer, type OidcIssuer } from "../oidc-issuer.ts";

/** An issuer that a browser signs in at: by a link on a page of another site than the console's. */
export interface BrowserIssuer extends AsyncDisposable {
  readonly issuer: OidcIssuer;
  /** Origins that a browser asks on the way. */
  readonly origins: readonly string[];
}

/** Opens one whose only link signs `user` in, and leads back to `callback`. */
export async function openBrowserIssuer(user: string, callback: string): Promise<BrowserIssuer> {
  await using parts = new AsyncDisposableStack();
  const pages = createServer().listen(0, "127.0.0.1");
  parts.defer(async () => {
    pages.close();
    pages.closeAllConnections();
    await once(pages, "close");
  });
  await once(pages, "listening");
  const { port } = pages.address() as AddressInfo;
  // To browsers the two are different sites; cookies of the issuer come to all ports of its host.
  const [here, elsewhere] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const issuer = parts.use(
    await openOidcIssuer([{ client_id: "weir", token_endpoint_auth_method: "none", redirect_uris: [callback] }], {
      findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      interactions: { url: (_context, { uid }) => `${elsewhere}/interaction/${uid}` },
      features: { devInteractions: { enabled: false } },
      loadExistingGrant: async ({ oidc }) => {
        const accountId = oidc.session?.accountId;
        if (oidc.client === undefined || accountId === undefined) return undefined;
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId });
        grant.addOIDCScope("openid");
        await grant.save();
        return grant;
      },
    }),
  );
  pages.on("request", (request, response) => {
    if (request.headers.host === `127.0.0.1:${port}`) {
      issuer.provider
        .interactionFinished(request, response, { login: { accountId: user } })
        .catch((err: unknown) => response.writeHead(500).end(String(err)));
      return;
    }
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Issuer</title><a href="${here}${request.url}">Go on as ${user}</a>`);
  });
  const all = parts.move();
  return { issuer, origins: [issuer.url, here, elsewhere], [Symbol.asyncDispose]: () => all.disposeAsync() };
}
