import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

/** A certified OpenID provider on a real port of 127.0.0.1, with people and one client of each kind. */
export interface IdentityProvider extends AsyncDisposable {
  /** Its `iss`. */
  readonly url: string;
  /** The id token that a person gets who signs in as `name`: code flow with PKCE, through its own forms. */
  idToken(name: string): Promise<string>;
  /** The access token (JWT) that a program gets by its client's credentials. */
  accessToken(): Promise<string>;
}

/** Audience of its id tokens, which is the client's name, and of its access tokens. */
export const providerAudience = { people: "weir", programs: "https://weir.example" } as const;

const redirect = "http://127.0.0.1/callback";
const robot = { id: "robot", secret: "robot-secret" } as const;

/** `groups`: claim `groups` of a person, by name. */
export async function openIdentityProvider(
  groups: Readonly<Record<string, readonly string[]>>,
): Promise<IdentityProvider> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "provider-key", use: "sig", alg: "ES256" };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    clients: [
      {
        client_id: providerAudience.people,
        token_endpoint_auth_method: "none",
        application_type: "native",
        redirect_uris: [redirect],
      },
      {
        client_id: robot.id,
        client_secret: robot.secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    ttl: { Interaction: 300, Session: 300, Grant: 300, AccessToken: 300, IdToken: 300, ClientCredentials: 300 },
    scopes: ["openid", "groups"],
    claims: { openid: ["sub"], groups: ["groups"] },
    conformIdTokenClaims: false,
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, groups: groups[sub] ?? [] }) }),
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (context) => (context.oidc.client?.clientId === robot.id ? providerAudience.programs : []),
        getResourceServerInfo: () => ({
          scope: "",
          audience: providerAudience.programs,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
  });
  const handle = provider.callback();

  return {
    url,
    idToken: async (name) => {
      const verifier = randomBytes(32).toString("base64url");
      const code = await codeFor(url, name, verifier);
      const form = {
        grant_type: "authorization_code",
        code,
        redirect_uri: redirect,
        client_id: providerAudience.people,
        code_verifier: verifier,
      };
      return (await tokens(url, form)).id_token ?? "";
    },
    accessToken: async () => {
      const basic = Buffer.from(`${robot.id}:${robot.secret}`).toString("base64");
      return (await tokens(url, { grant_type: "client_credentials" }, { authorization: `Basic ${basic}` }))
        .access_token;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function tokens(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/token`, { method: "POST", headers, body: new URLSearchParams(form) });
  if (!response.ok) throw new Error(`The provider gives no token: ${await response.text()}`);
  return (await response.json()) as { readonly access_token: string; readonly id_token?: string };
}

/** Follows the provider's redirects and submits its forms, as a browser would, to the code at the end. */
async function codeFor(url: string, name: string, verifier: string): Promise<string> {
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const asked = {
    client_id: providerAudience.people,
    response_type: "code",
    scope: "openid groups",
    redirect_uri: redirect,
  };
  const query = new URLSearchParams({
    ...asked,
    code_challenge: challenge,
    code_challenge_method: "S256",
    nonce: "n",
    state: "s",
  });
  const cookies = new Map<string, string>();
  let next = `${url}/auth?${query.toString()}`;
  const prompts = [{ prompt: "login", login: name, password: "any" }, { prompt: "consent" }];
  for (let step = 0; step < 10; step += 1) {
    const isForm = new URL(next).pathname.startsWith("/interaction/");
    const response = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([cookie, value]) => `${cookie}=${value}`).join("; ") },
      ...(isForm ? { method: "POST", body: new URLSearchParams(prompts.shift()) } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(key, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`The provider replies ${response.status}: ${await response.text()}`);
    next = new URL(location, url).href;
    if (next.startsWith(redirect)) return new URL(next).searchParams.get("code") ?? "";
  }
  throw new Error("The provider redirects without end");
}
