import Type, { type Static } from "typebox";

import { celDurationWithin, type CelRule } from "./cel-rules.ts";
import { longestDuration } from "../duration.ts";
import { setOptions } from "./resource-conditions.ts";

const address = (description: string, example: string) =>
  Type.String({ pattern: "^https?://[^\\s/?#@]+(?:/[^\\s?#]*)?$", maxLength: 2_048, description, examples: [example] });

/** A token issuer that is trusted (contract §6). */
export const JwtIssuerSpec = Type.Object(
  {
    iss: address("Address of the issuer, exactly as its tokens say it", "https://issuer.example.com"),
    aud: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
      minItems: 1,
      maxItems: 64,
      description: "Audiences of which a token must have one",
      examples: [["weir"]],
      ...setOptions,
    }),
    issInternal: Type.Optional(address("Address to read its keys from, if not `iss`", "http://issuer.auth.svc:8080")),
    tokenExpiry: Type.Optional(
      Type.String({
        maxLength: 64,
        default: "30m",
        description: "How long tokens of the platform live",
        examples: ["30m"],
        "x-kubernetes-validations": [
          { rule: celDurationWithin("self", 1_000, longestDuration), message: "expected a duration of at least 1s" },
        ] satisfies CelRule[],
      }),
    ),
  },
  { description: "Whose tokens are trusted" },
);
export type JwtIssuerSpec = Readonly<Static<typeof JwtIssuerSpec>>;

const verbs = {
  Function: ["List", "Get", "Create", "Update", "Delete", "Scale", "Logs", "Invoke"],
  Secret: ["List", "Create", "Update", "Delete"],
  Namespace: ["List", "Get", "Create", "Update", "Delete"],
  Queue: ["List", "Get", "Redrive", "Delete"],
  System: ["Info"],
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

/** Operator, then `jwt:<claim>`, then a text or a list of them; all must hold. */
export const PolicyCondition = Type.Unsafe<Readonly<Record<string, Readonly<Record<string, string | string[]>>>>>({
  type: "object",
  maxProperties: 5,
  description:
    "Operator (StringEqual, StringEqualIgnoreCase, StringLike, ForAnyValue:StringEqual), then `jwt:` and a claim, then a text or a list: all operators and claims must hold, one of the values",
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

/** What may be done with what (contract §6). */
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
              description: "What may be done",
              examples: [["Function:*"]],
              ...setOptions,
            },
          ),
          resource: Type.Array(
            Type.String({
              pattern: "^(?:\\*|[-a-z0-9*]{1,63}:[-a-z0-9*]{1,63})$",
              maxLength: 127,
              description: "`*`, `namespace:*` or `namespace:function`; `*` may stand inside a part",
            }),
            { minItems: 1, maxItems: 64, description: "With what", examples: [["dev:*"]], ...setOptions },
          ),
          condition: Type.Optional(PolicyCondition),
        },
        { description: "One permission" },
      ),
      { minItems: 1, maxItems: 64, description: "What is allowed; statements add up" },
    ),
  },
  { description: "What may be done with what" },
);
export type PolicySpec = Readonly<Static<typeof PolicySpec>>;

/** Who has which policies (contract §6). */
export const RoleSpec = Type.Object(
  {
    policy: Type.Array(
      Type.String({
        pattern: "^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$",
        maxLength: 253,
        description: "Name of a Policy of the same namespace",
      }),
      { minItems: 1, maxItems: 64, description: "Policies that it gives", examples: [["deployers"]], ...setOptions },
    ),
    principal: Type.Optional(
      Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
        type: "object",
        maxProperties: 32,
        description: "`jwt:` and a claim, then the values of which a token must have one",
        examples: [{ "jwt:sub": ["repo:acme/shop"] }],
        propertyNames: { type: "string", pattern: claimPattern, maxLength: 256, description: "jwt: and a claim" },
        additionalProperties: { type: "array", maxItems: 256, items: { type: "string", maxLength: 1_024 } },
      }),
    ),
    condition: Type.Optional(PolicyCondition),
  },
  { description: "Who has which policies: principal and condition must hold; neither: every trusted token" },
);
export type RoleSpec = Readonly<Static<typeof RoleSpec>>;
