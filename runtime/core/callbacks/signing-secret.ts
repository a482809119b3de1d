const prefix = "whsec_";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const [shortest, longest] = [24, 64];

/** The key that a secret holds, or why callbacks cannot be signed with it. */
export type SigningSecret =
  | { readonly kind: "usable"; readonly key: Uint8Array }
  | { readonly kind: "unusable"; readonly why: string };

/**
 * Reads the value of a secret: `whsec_` and the key in base64, as Standard Webhooks writes secrets, else the key itself.
 * A key has 24 to 64 bytes.
 */
export function readSigningSecret(value: Uint8Array): SigningSecret {
  const text = Buffer.from(value).toString("latin1");
  if (!text.startsWith(prefix)) return ofRightLength(value);
  // Editors and `echo` end a file with a line end, which belongs to no base64.
  const encoded = text.slice(prefix.length).trimEnd();
  if (!base64.test(encoded)) return { kind: "unusable", why: `what follows "${prefix}" is not base64` };
  return ofRightLength(Buffer.from(encoded, "base64"));
}

function ofRightLength(key: Uint8Array): SigningSecret {
  if (key.byteLength >= shortest && key.byteLength <= longest) return { kind: "usable", key };
  return { kind: "unusable", why: `it has ${key.byteLength} bytes, and ${shortest} to ${longest} are needed` };
}
