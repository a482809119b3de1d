import { readSigningSecret } from "../../../core/callbacks/signing-secret.ts";
import type { CoreSecret } from "../stores/secret-reference.ts";

/** The value (base64) of a core Secret that callbacks can be signed with, or why it has none. */
export type SigningValue =
  | { readonly kind: "usable"; readonly value: string }
  | { readonly kind: "unusable"; readonly why: string };

/** The value under the Secret's own name, as requests write it, else its only one. */
export function signingValue({ metadata: { name = "" }, data = {} }: CoreSecret): SigningValue {
  const values = Object.entries(data);
  const [first] = values;
  const named = values.find(([key]) => key === name) ?? (values.length === 1 ? first : undefined);
  if (named === undefined) {
    return { kind: "unusable", why: `it has ${values.length} keys, and none of them has its name` };
  }
  const [, value] = named;
  const secret = readSigningSecret(Buffer.from(value, "base64"));
  return secret.kind === "usable" ? { kind: "usable", value } : secret;
}
