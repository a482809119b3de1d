import Type, { type Static } from "typebox";

import { celDurationWithin, type CelRule } from "./cel-rules.ts";
import { longestDuration } from "../duration.ts";
import { setOptions } from "./resource-conditions.ts";

const address = (description: string, example: string) =>
  Type.String({ pattern: "^https?://[^\\s/?#@]+(?:/[^\\s?#]*)?$", maxLength: 2_048, description, examples: [example] });

/** A token issuer that is trusted (contract §6). */
export const JwtIssuerSpec = Type.Object(
  {
    iss: address("Address of the issuer, exactly as in claim `iss` of its tokens", "https://issuer.example.com"),
    aud: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
      minItems: 1,
      maxItems: 64,
      description: "Accepted audiences; a token must have one of them",
      examples: [["weir"]],
      ...setOptions,
    }),
    issInternal: Type.Optional(
      address("Address from which its keys are read, if not `iss`", "http://issuer.auth.svc:8080"),
    ),
    tokenExpiry: Type.Optional(
      Type.String({
        maxLength: 64,
        default: "30m",
        description: "Lifetime of the platform's tokens",
        examples: ["30m"],
        "x-kubernetes-validations": [
          { rule: celDurationWithin("self", 1_000, longestDuration), message: "expected a duration of at least 1s" },
        ] satisfies CelRule[],
      }),
    ),
    nameClaim: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          "Claim that names people in the console, the audit and the command, beside their subject; absent = the first of `preferred_username`, `email` and `name`",
        examples: ["email"],
      }),
    ),
    deny: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
        minItems: 1,
        maxItems: 1_000,
        description:
          "Subjects that are refused whatever roles give them: no token of theirs is exchanged, those of the platform that they have count no more, and their sessions end",
        examples: [["aa3e33b5-6c1d-4c0a-9d4c-8a2a1f0f2a11"]],
        ...setOptions,
      }),
    ),
    login: Type.Optional(
      Type.Object(
        {
          clientId: Type.String({
            minLength: 1,
            maxLength: 512,
            description: "The platform's client at the issuer",
            examples: ["weir"],
          }),
          clientSecretName: Type.Optional(
            Type.String({
              pattern: "^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$",
              maxLength: 253,
              description:
                "File of the platform's `iam-clients` that holds the client's secret; absent = a public client",
            }),
          ),
          scopes: Type.Optional(
            Type.Array(Type.String({ pattern: "^[!#-\\[\\]-~]+$", maxLength: 128 }), {
              minItems: 1,
              maxItems: 32,
              description: "What is asked of the issuer, openid always; absent = `profile` and `email`",
              examples: [["openid", "groups"]],
              ...setOptions,
            }),
          ),
        },
        { description: "How people sign in with this issuer" },
      ),
    ),
  },
  { description: "An issuer whose tokens are trusted" },
);
export type JwtIssuerSpec = Readonly<Static<typeof JwtIssuerSpec>>;

/** What is asked of an issuer at a sign-in besides openid: by default what people are called. */
export function loginScopes({ scopes }: NonNullable<JwtIssuerSpec["login"]>): readonly string[] {
  return scopes ?? ["profile", "email"];
}

const verbs = {
  Function: ["List", "Get", "Create", "Update", "Delete", "Scale", "Logs", "Invoke"],
  Secret: ["List", "Create", "Update", "Delete"],
  Namespace: ["List", "Get", "Create", "Update", "Delete"],
  Queue: ["List", "Get", "Redrive", "Delete"],
  Call: ["List", "Get", "Payload", "Replay", "Delete"],
  Session: ["List", "Delete"],
  // Watch needs no right any more; policies that name it stay valid.
  System: ["Info", "Doctor", "Simulate", "Audit", "Watch"],
} as const;

/** Every action that a policy can allow: `*`, all of a kind, or one. */
export const policyActions: readonly string[] = [
  "*",
  ...Object.entries(verbs).flatMap(([kind, names]) => [`${kind}:*`, ...names.map((name) => `${kind}:${name}`)]),
];

/** Operators of conditions. */
export const conditionOperators = [
  "StringEqual",
  "StringEquals",
  "StringEqualIgnoreCase",
  "StringLike",
  "ForAnyValue:StringEqual",
] as const;

const claimPattern = "^jwt:.+$";

/** Maps an operator to `jwt:<claim>`, and that to a text or a list of texts; all operators and claims must match. */
export const PolicyCondition = Type.Unsafe<Readonly<Record<string, Readonly<Record<string, string | string[]>>>>>({
  type: "object",
  maxProperties: 5,
  description:
    "Maps an operator (StringEqual, StringEqualIgnoreCase, StringLike, ForAnyValue:StringEqual) to `jwt:` and a claim, and that to a text or a list of texts. All operators and claims must match, each with one of its texts",
  examples: [{ StringEqual: { "jwt:team": ["core"] } }],
  propertyNames: { enum: conditionOperators },
  additionalProperties: {
    type: "object",
    maxProperties: 32,
    propertyNames: { type: "string", pattern: claimPattern, maxLength: 256 },
    additionalProperties: {
      anyOf: [
        { type: "string", maxLength: 1_024 },
        { type: "array", maxItems: 256, items: { type: "string", maxLength: 1_024 } },
      ],
    },
  },
});

/** Which actions are allowed on which resources (contract §6). */
export const PolicySpec = Type.Object(
  {
    statement: Type.Array(
      Type.Object(
        {
          sid: Type.String({
            minLength: 1,
            maxLength: 128,
            description: "Name of the statement",
            examples: ["deploy"],
          }),
          effect: Type.Enum(["Allow"], { type: "string", description: "What is not allowed is denied" }),
          action: Type.Array(
            Type.Enum([...policyActions], { type: "string", description: "One action, or all of a kind" }),
            {
              minItems: 1,
              maxItems: 64,
              description: "Allowed actions",
              examples: [["Function:*"]],
              ...setOptions,
            },
          ),
          resource: Type.Array(
            Type.String({
              pattern: "^(?:\\*|[-a-z0-9*]{1,63}:[-a-z0-9*]{1,63})$",
              maxLength: 127,
              description: "`*`, `namespace:*` or `namespace:function`; a part may contain `*`",
            }),
            {
              minItems: 1,
              maxItems: 64,
              description: "Resources on which the actions are allowed",
              examples: [["dev:*"]],
              ...setOptions,
            },
          ),
          condition: Type.Optional(PolicyCondition),
        },
        { description: "One permission" },
      ),
      { minItems: 1, maxItems: 64, description: "What is allowed: the sum of all statements" },
    ),
  },
  { description: "Which actions are allowed on which resources" },
);
export type PolicySpec = Readonly<Static<typeof PolicySpec>>;

/** Who is granted which policies (contract §6). */
export const RoleSpec = Type.Object(
  {
    policy: Type.Array(
      Type.String({
        pattern: "^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$",
        maxLength: 253,
        description: "Name of a Policy in the same namespace",
      }),
      {
        minItems: 1,
        maxItems: 64,
        description: "Policies that the role grants",
        examples: [["deployers"]],
        ...setOptions,
      },
    ),
    principal: Type.Optional(
      Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
        type: "object",
        maxProperties: 32,
        description: "Maps `jwt:` and a claim to values; a token must have one of them",
        examples: [{ "jwt:sub": ["repo:acme/shop"] }],
        propertyNames: { type: "string", pattern: claimPattern, maxLength: 256, description: "jwt: and a claim" },
        additionalProperties: { type: "array", maxItems: 256, items: { type: "string", maxLength: 1_024 } },
      }),
    ),
    condition: Type.Optional(PolicyCondition),
    mode: Type.Optional(
      Type.Enum(["enforce", "report"], {
        type: "string",
        default: "enforce",
        description: "report: the role allows nothing, and the log says what it would have allowed",
      }),
    ),
  },
  {
    description:
      "Who is granted which policies: tokens that match both principal and condition; without either, every trusted token",
  },
);
export type RoleSpec = Readonly<Static<typeof RoleSpec>>;
