import Type, { type Static } from "typebox";

const name = Type.String({
  pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$",
  maxLength: 253,
  description: "Labels joined by dots",
});
const namespace = Type.Optional(Type.String({ pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 }));

/** Most bytes of one secret's value, decoded. */
export const maxSecretBytes = 1_048_576;

/** A secret as it is sent; its value can never be read again (contract §2). */
export const Secret = Type.Object({
  name,
  namespace,
  value: Type.Optional(Type.String({ description: "Text" })),
  rawValue: Type.Optional(Type.String({ description: "Base64 (RFC 4648 §4); wins over value" })),
});
export type Secret = Readonly<Static<typeof Secret>>;

/** Names a secret without its value. */
export const SecretReference = Type.Object({ name, namespace });

/** A secret as it is listed. */
export const SecretListItem = Type.Object({ name: Type.String(), namespace: Type.String() });
export type SecretListItem = Readonly<Static<typeof SecretListItem>>;
