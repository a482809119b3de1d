import { PlatformError } from "../api/platform-error.ts";
import { maxSecretBytes, type Secret } from "../api/schemas/secret.ts";

/** Valid only with a length that is a multiple of four. */
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes of a secret as sent: `rawValue` decoded, else `value` as UTF-8. Error sentences never show a value.
 * @throws PlatformError `validation_failed` when the value is missing or malformed; `payload_too_large` over 1 MiB
 */
export function secretValue(secret: Secret): Uint8Array {
  const bytes = secret.rawValue === undefined ? encode(secret) : decode(secret.name, secret.rawValue);
  if (bytes.length === 0) {
    throw new PlatformError("validation_failed", `Cannot store secret "${secret.name}": it has no value`);
  }
  if (bytes.length > maxSecretBytes) {
    throw new PlatformError(
      "payload_too_large",
      `Cannot store secret "${secret.name}": ${bytes.length} bytes are over the limit of ${maxSecretBytes}`,
    );
  }
  return bytes;
}

function encode({ name, value = "" }: Secret): Uint8Array {
  if (value.isWellFormed()) return Buffer.from(value, "utf8");
  throw new PlatformError("validation_failed", `Cannot store secret "${name}": its value is not valid Unicode`);
}

function decode(name: string, rawValue: string): Uint8Array {
  if (rawValue.length % 4 === 0 && base64.test(rawValue)) return Buffer.from(rawValue, "base64");
  throw new PlatformError("validation_failed", `Cannot store secret "${name}": its rawValue is not base64`);
}
