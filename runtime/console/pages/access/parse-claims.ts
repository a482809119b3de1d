/** Claims as people write them, or why they cannot be read. */
export type ParsedClaims =
  | { readonly kind: "claims"; readonly claims: Record<string, unknown> }
  | { readonly kind: "unreadable"; readonly sentence: string };

/** Reads a JSON object. */
export function parseClaims(text: string): ParsedClaims {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (err) {
    return { kind: "unreadable", sentence: `This is no JSON: ${err instanceof Error ? err.message : String(err)}` };
  }
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { kind: "claims", claims: { ...value } }
    : { kind: "unreadable", sentence: "Claims are a JSON object" };
}
