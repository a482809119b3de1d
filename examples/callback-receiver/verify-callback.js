import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";

/** A callback that is older, in seconds, is somebody's who sends it again. */
const tolerance = 300;

/**
 * Whether a callback is from this platform and unchanged. `headers` are those of node:http, `body` are its bytes as they
 * came. Give it the `secret` that the function names, else the `keys` of `/.well-known/weir-callback-keys`.
 */
export function isGenuine({ headers, body }, { secret, keys = [] }, now = Date.now() / 1000) {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headers[`webhook-${name}`] ?? "");
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > tolerance) return false;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.split(" ").some((each) => {
    const [version, text = ""] = each.split(",");
    const signature = Buffer.from(text, "base64");
    if (version === "v1a") return keys.some((key) => verify(null, signed, publicKey(key), signature));
    if (version !== "v1" || secret === undefined) return false;
    const expected = createHmac("sha256", keyOf(secret)).update(signed).digest();
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

const publicKey = (key) => createPublicKey({ key, format: "jwk" });
const keyOf = (secret) => (secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret));
