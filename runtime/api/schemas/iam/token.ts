import Type from "typebox";

import { openEnum } from "../open-enum.ts";
import { SignInIssuer, signInMember } from "./sign-in.ts";

/** `grant_type` of a token exchange. */
export const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";

/** `subject_token_type` of the tokens that are exchanged. */
export const subjectTokenTypes = [
  "urn:ietf:params:oauth:token-type:id_token",
  "urn:ietf:params:oauth:token-type:jwt",
] as const;

/** `issued_token_type` of the tokens that are issued. */
export const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";

/** A token exchange (RFC 8693, contract §6). */
export const TokenRequest = Type.Object(
  {
    grant_type: Type.Enum([exchangeGrant], { type: "string", description: "Always token exchange" }),
    subject_token: Type.String({
      minLength: 1,
      description: "Token of a trusted issuer, or an API token of this gateway",
      examples: ["eyJhbGciOiJFUzI1NiJ9.e30.c2ln"],
    }),
    subject_token_type: Type.Enum([...subjectTokenTypes], {
      type: "string",
      description: "What kind of token it is",
    }),
    scope: Type.Optional(
      Type.Enum(["function"], {
        type: "string",
        description: "function: a token for invoking only; absent: an API token",
      }),
    ),
    audience: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Functions that a function token is for, as namespace:function or namespace:*; repeat the field for several",
        examples: [["functions:hello"]],
      }),
    ),
  },
  {
    title: "TokenRequest",
    description: "A token exchange (RFC 8693)",
    examples: [
      {
        grant_type: exchangeGrant,
        subject_token: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln",
        subject_token_type: subjectTokenTypes[0],
      },
    ],
  },
);

/** The result of a token exchange. */
export const TokenReply = Type.Object(
  {
    access_token: Type.String({ description: "The token", examples: ["eyJhbGciOiJFUzI1NiJ9.e30.c2ln"] }),
    issued_token_type: openEnum([accessTokenType], "Kind of the token"),
    token_type: openEnum(["Bearer"], "How it is sent"),
    expires_in: Type.Integer({ minimum: 0, description: "Lifetime in seconds", examples: [1_800] }),
    scope: Type.Optional(Type.String({ description: "function for a function token", examples: ["function"] })),
  },
  {
    title: "TokenReply",
    description: "The result of a token exchange",
    examples: [
      {
        access_token: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln",
        issued_token_type: accessTokenType,
        token_type: "Bearer",
        expires_in: 1_800,
      },
    ],
  },
);

/** Why a token exchange failed (RFC 6749 §5.2). */
export const TokenError = Type.Object(
  {
    error: openEnum(
      ["invalid_request", "unsupported_grant_type", "invalid_scope", "invalid_target", "temporarily_unavailable"],
      "What went wrong, for programs",
    ),
    error_description: Type.Optional(Type.String({ description: "One sentence for people" })),
  },
  {
    title: "TokenError",
    description: "Why a token exchange failed (RFC 6749 §5.2)",
    examples: [{ error: "invalid_request", error_description: "Cannot exchange token: subject_token is missing" }],
  },
);

const address = (description: string, example: string) =>
  Type.String({ format: "uri", description, examples: [example] });

/** Where the platform issues tokens. */
export const OpenIdConfiguration = Type.Object(
  {
    issuer: address("Issuer and audience of the tokens", "https://weir.example.com"),
    jwks_uri: address("Where its public keys are", "https://weir.example.com/.well-known/jwks.json"),
    token_endpoint: address("Where tokens are exchanged", "https://weir.example.com/oauth/token"),
    [signInMember]: Type.Array(SignInIssuer, {
      description: "Issuers that people sign in with on the command line, by name",
    }),
  },
  {
    title: "OpenIdConfiguration",
    description: "Where the platform issues tokens",
    examples: [
      {
        issuer: "https://weir.example.com",
        jwks_uri: "https://weir.example.com/.well-known/jwks.json",
        token_endpoint: "https://weir.example.com/oauth/token",
        [signInMember]: [],
      },
    ],
  },
);

const key = { kty: "EC", kid: "1", crv: "P-256", x: "AA", y: "AA", alg: "ES256", use: "sig" };

/** One public key of the platform. */
export const JsonWebKey = Type.Object(
  {
    kty: Type.String({ description: "Kind of the key", examples: ["EC"] }),
    kid: Type.String({ description: "Name of the key", examples: ["1"] }),
  },
  {
    title: "JsonWebKey",
    description: "One key, with the members of its kind",
    additionalProperties: true,
    examples: [key],
  },
);

/** Public keys of the platform (RFC 7517). */
export const JsonWebKeySet = Type.Object(
  {
    keys: Type.Array(JsonWebKey, { description: "The keys" }),
  },
  {
    title: "JsonWebKeySet",
    description: "Public keys of the platform (RFC 7517)",
    examples: [{ keys: [key] }],
  },
);
