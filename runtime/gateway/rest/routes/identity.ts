import {
  JsonWebKeySet,
  OpenIdConfiguration,
  TokenError,
  TokenReply,
  TokenRequest,
} from "../../../api/schemas/token.ts";
import { notBuilt } from "../route.ts";

/** Tokens for clients other than the administrator (contract §6); only in editions with IAM. */
export const identityRoutes = [
  notBuilt({
    id: "exchangeToken",
    group: "identity",
    method: "POST",
    path: "/oauth/token",
    needs: "nothing",
    about: "Exchanges a token of a trusted issuer for one of this platform.",
    body: TokenRequest,
    bodyType: "application/x-www-form-urlencoded",
    responses: [
      { status: 200, about: "The token", schema: TokenReply },
      { status: 400, about: "Why no token is issued", schema: TokenError },
      { status: 503, about: "The issuer is unavailable", schema: TokenError },
    ],
    iamOnly: true,
  }),
  notBuilt({
    id: "getOpenIdConfiguration",
    group: "identity",
    method: "GET",
    path: "/.well-known/openid-configuration",
    needs: "nothing",
    about: "Shows where tokens are issued and where their keys are.",
    responses: [{ status: 200, about: "The addresses", schema: OpenIdConfiguration }],
    iamOnly: true,
  }),
  notBuilt({
    id: "getKeys",
    group: "identity",
    method: "GET",
    path: "/.well-known/jwks.json",
    needs: "nothing",
    about: "Returns the public keys by which tokens of this platform are verified.",
    responses: [{ status: 200, about: "The keys", schema: JsonWebKeySet }],
    iamOnly: true,
  }),
];
