import Type, { type Static } from "typebox";

import { inNamespace, namespaceName, secretName } from "./name-schemas.ts";

const name = secretName("Name of the secret: labels joined by dots");

/** Most bytes of one secret's value, decoded. */
export const maxSecretBytes = 1_048_576;

/**
 * A secret as it is sent; its value can never be read again (contract §2). That a value is required is not expressed as
 * alternatives (anyOf), because client generators would turn them into separate types.
 */
export const Secret = Type.Object(
  {
    name,
    namespace: inNamespace,
    value: Type.Optional(
      Type.String({ writeOnly: true, description: "The value as text, at most 1 MiB", examples: ["s3cret"] }),
    ),
    rawValue: Type.Optional(
      Type.String({
        minLength: 1,
        pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        contentEncoding: "base64",
        writeOnly: true,
        description: "The value as base64 (RFC 4648 §4), at most 1 MiB decoded; wins over `value`",
        examples: ["czNjcmV0"],
      }),
    ),
  },
  {
    title: "Secret",
    description: "A secret as it is sent, with `value` or `rawValue`; a value is never shown again",
    examples: [
      { name: "api-key", value: "s3cret" },
      { name: "api-key", rawValue: "czNjcmV0" },
    ],
  },
);
export type Secret = Readonly<Static<typeof Secret>>;

/** Names a secret without its value. */
export const SecretReference = Type.Object(
  { name, namespace: inNamespace },
  { title: "SecretReference", description: "Names a secret without its value", examples: [{ name: "api-key" }] },
);

/** A secret as it is listed. */
export const SecretListItem = Type.Object(
  { name, namespace: namespaceName("Real name of its namespace") },
  {
    title: "SecretListItem",
    description: "A secret as it is listed, without its value",
    examples: [{ name: "api-key", namespace: "functions" }],
  },
);
export type SecretListItem = Readonly<Static<typeof SecretListItem>>;
