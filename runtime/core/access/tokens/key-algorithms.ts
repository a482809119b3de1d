import type { TokenAlgorithm } from "./parse-token.ts";

const fewestRsaBits = 2_048;
/** Members of keys that are not public. */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/**
 * The algorithms that a published key (JWK) may verify signatures of; none if it is not usable (`security.md` §4):
 * private, for something else, too short, of another kind. Whether its point is on its curve shows when it is imported.
 */
export function algorithmsOfKey(key: unknown): readonly TokenAlgorithm[] {
  if (typeof key !== "object" || key === null) return [];
  const members = new Map<string, unknown>(Object.entries(key));
  const [use, operations, alg] = ["use", "key_ops", "alg"].map((name) => members.get(name));
  if (secretMembers.some((name) => members.has(name))) return [];
  if (use !== undefined && use !== "sig") return [];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return [];
  return algorithmsOfKind(members).filter((algorithm) => alg === undefined || alg === algorithm);
}

function algorithmsOfKind(members: ReadonlyMap<string, unknown>): readonly TokenAlgorithm[] {
  const [kind, curve] = [members.get("kty"), members.get("crv")];
  if (kind === "RSA") return bitsOf(members.get("n")) >= fewestRsaBits ? ["RS256", "PS256"] : [];
  if (kind === "EC") return curve === "P-256" ? ["ES256"] : [];
  return kind === "OKP" && curve === "Ed25519" ? ["EdDSA"] : [];
}

/** Bits of a number in base64url. */
function bitsOf(value: unknown): number {
  if (typeof value !== "string") return 0;
  const digits = Buffer.from(value, "base64url").toString("hex");
  return BigInt(`0x0${digits}`).toString(2).length;
}
