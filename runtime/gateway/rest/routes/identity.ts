import {
  JsonWebKeySet,
  OpenIdConfiguration,
  TokenError,
  TokenReply,
  TokenRequest,
} from "../../../api/schemas/token.ts";
import { notBuilt } from "../route.ts";

/** Tokens for who is no administrator (contract §6); there only in editions with IAM. */
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
    answers: [
      { status: 200, about: "The token", schema: TokenReply },
      { status: 400, about: "Why there is none", schema: TokenError },
      { status: 503, about: "The issuer cannot be asked now", schema: TokenError },
    ],
    iamOnly: true,
  }),
  notBuilt({
    id: "getOpenIdConfiguration",
    group: "identity",
    method: "GET",
    path: "/.well-known/openid-configuration",
    needs: "nothing",
    about: "Says where tokens are issued and where the keys are.",
    answers: [{ status: 200, about: "Where", schema: OpenIdConfiguration }],
    iamOnly: true,
  }),
  notBuilt({
    id: "getKeys",
    group: "identity",
    method: "GET",
    path: "/.well-known/jwks.json",
    needs: "nothing",
    about: "Gives the public keys that tokens of this platform are checked with.",
    answers: [{ status: 200, about: "The keys", schema: JsonWebKeySet }],
    iamOnly: true,
  }),
];
