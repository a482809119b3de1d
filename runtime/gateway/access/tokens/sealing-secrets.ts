import { hkdfSync, type KeyObject } from "node:crypto";

/** Secrets that encrypt what gateways keep for each other at others, such as browsers. */
export interface SealingSecrets {
  /** The one to seal with: every gateway knows it. */
  readonly seal: Uint8Array;
  /** Those that open what any gateway sealed. */
  readonly open: readonly Uint8Array[];
}

/** The secret that follows from a private key, 256 bits. */
export function sealingSecret(privateKey: KeyObject): Uint8Array {
  const secret = privateKey.export({ format: "der", type: "pkcs8" });
  // Gateways of other versions derive it by the same name.
  return new Uint8Array(hkdfSync("sha256", secret, "", "weir login state", 32));
}
