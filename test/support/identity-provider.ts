import { createHash, randomBytes } from "node:crypto";

import type { ClientMetadata, Configuration } from "oidc-provider";

import { FormBrowser, openOidcIssuer } from "./oidc-issuer.ts";

/** An OpenID provider with one client of each kind, and the tokens that people and programs get of it. */
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

const clients: readonly ClientMetadata[] = [
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
];

/** `groups`: claim `groups` of a person, by name. */
export async function openIdentityProvider(
  groups: Readonly<Record<string, readonly string[]>>,
): Promise<IdentityProvider> {
  const issuer = await openOidcIssuer(clients, configurationFor(groups), "ES256");
  const { url } = issuer;
  return {
    url,
    idToken: async (name) => {
      const verifier = randomBytes(32).toString("base64url");
      const form = {
        grant_type: "authorization_code",
        code: await codeFor(url, name, verifier),
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
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

function configurationFor(groups: Readonly<Record<string, readonly string[]>>): Configuration {
  return {
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
  };
}

async function tokens(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/token`, { method: "POST", headers, body: new URLSearchParams(form) });
  if (!response.ok) throw new Error(`The provider gives no token: ${await response.text()}`);
  return (await response.json()) as { readonly access_token: string; readonly id_token?: string };
}

/** The code that a person brings back who fills in the provider's forms. */
async function codeFor(url: string, name: string, verifier: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: providerAudience.people,
    response_type: "code",
    scope: "openid groups",
    redirect_uri: redirect,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    nonce: "n",
    state: "s",
  });
  const end = await new FormBrowser(name).visit(`${url}/auth?${query.toString()}`, redirect);
  const code = new URL(end.url).searchParams.get("code");
  if (code === null) throw new Error(`The provider gives no code at ${end.url}: ${end.status} ${end.text}`);
  return code;
}
