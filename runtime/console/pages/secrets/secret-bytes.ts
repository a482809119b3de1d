/** Most bytes of one secret's value. */
export const mostSentBytes = 1_048_576;

/** Bytes as base64, as secrets are sent. */
export function base64Of(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/** Why a value cannot be stored, or undefined. */
export function whyNoValue(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return "A secret has at least one byte";
  if (bytes.length > mostSentBytes)
    return `A secret has at most ${mostSentBytes.toLocaleString("en")} bytes; this one has ${bytes.length.toLocaleString("en")}`;
  return undefined;
}
