import {
  JsonWebKeySet,
  OpenIdConfiguration,
  TokenError,
  TokenReply,
  TokenRequest,
} from "../../../api/schemas/iam/token.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { loginScopes } from "../../../api/resources/iam-resources.ts";
import { exchangeToken } from "../../access/tokens/exchange-token.ts";
import { TokenFault } from "../../access/tokens/token-fault.ts";
import type { RuleSet } from "../../../core/access/rule-set.ts";
import { signInMember, type SignInIssuer } from "../../../api/schemas/iam/sign-in.ts";
import type { TokenParts } from "../../access/tokens/token-parts.ts";
import { formType, type FormBody } from "../form-body.ts";
import { route } from "../route.ts";

/** Seconds after which the keys of an issuer are read again. */
const retryAfter = 30;

const exchange = route(
  {
    id: "exchangeToken",
    group: "identity",
    method: "POST",
    path: "/oauth/token",
    needs: "nothing",
    about: "Exchanges a token of a trusted issuer for one of this platform.",
    details:
      "With scope=function also an API token of this platform is exchanged, for one that is good for calls only. Empty fields count as absent, unknown ones are ignored.",
    body: TokenRequest,
    bodyType: formType,
    responses: [
      {
        status: 200,
        about: "The token",
        schema: TokenReply,
        headers: { "Cache-Control": "no-store: the token is in no cache" },
      },
      { status: 400, about: "Why no token is issued", schema: TokenError },
      { status: 503, about: "The issuer is unavailable", schema: TokenError },
    ],
    errors: ["not_built"],
    trial: {
      commands:
        "curl $G/oauth/token -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange -d subject_token=$JWT -d subject_token_type=urn:ietf:params:oauth:token-type:jwt",
      shows: '{"error":"invalid_request",…',
    },
    iamOnly: true,
  },
  ({ tokens, namespaces }) =>
    async ({ request, reply }) => {
      const parts = known(tokens);
      reply.header("Cache-Control", "no-store");
      try {
        return await exchangeToken(request.body as FormBody, { ...parts, namespaces });
      } catch (err) {
        if (!(err instanceof TokenFault)) throw err;
        parts.refused?.(request, err);
        const isAway = err.error === "temporarily_unavailable";
        if (isAway) reply.header("Retry-After", String(retryAfter));
        await reply.code(isAway ? 503 : 400).send({ error: err.error, error_description: err.description });
        return undefined;
      }
    },
);

const getConfiguration = route(
  {
    id: "getOpenIdConfiguration",
    group: "identity",
    method: "GET",
    path: "/.well-known/openid-configuration",
    needs: "nothing",
    about: "Shows where tokens are issued and where their keys are.",
    responses: [{ status: 200, about: "The addresses", schema: OpenIdConfiguration }],
    errors: ["not_built"],
    trial: { commands: "curl -s $G/.well-known/openid-configuration", shows: '{"issuer":"http…' },
    iamOnly: true,
  },
  ({ tokens }) =>
    async () => {
      const { keys, rules } = known(tokens);
      const { issuer } = keys;
      const base = issuer.replace(/\/+$/, "");
      return {
        issuer,
        jwks_uri: `${base}/.well-known/jwks.json`,
        token_endpoint: `${base}/oauth/token`,
        [signInMember]: signInIssuers(rules()),
      };
    },
);

const getKeys = route(
  {
    id: "getKeys",
    group: "identity",
    method: "GET",
    path: "/.well-known/jwks.json",
    needs: "nothing",
    about: "Returns the public keys by which tokens of this platform are verified.",
    responses: [{ status: 200, about: "The keys", schema: JsonWebKeySet }],
    errors: ["not_built"],
    trial: { commands: "curl -s $G/.well-known/jwks.json", shows: '{"keys":[{…' },
    iamOnly: true,
  },
  ({ tokens }) =>
    async () => ({
      keys: known(tokens)
        .keys.keySet()
        .keys.map((key) => ({ ...key })),
    }),
);

/** Tokens for clients other than the administrator (contract §6); only in editions with IAM. */
export const identityRoutes = [exchange, getConfiguration, getKeys];

/** Those whose client has no secret: a command line could not keep one. */
function signInIssuers({ issuers }: RuleSet): SignInIssuer[] {
  return [...issuers.values()].flatMap(({ name, iss, login }) =>
    login === undefined || login.clientSecretName !== undefined
      ? []
      : [{ name, issuer: iss, clientId: login.clientId, scopes: [...loginScopes(login)] }],
  );
}

function known(tokens: TokenParts | undefined): TokenParts {
  if (tokens !== undefined) return tokens;
  throw new PlatformError("not_built", "Cannot answer for tokens: this gateway was started without keys for them");
}
