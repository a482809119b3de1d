import type { SecretRef } from "./secret-store.ts";

/** The secrets that callbacks are signed with. */
export interface CallbackSecrets {
  /** The value as it is now; undefined when there is none. */
  read(ref: SecretRef): Promise<Uint8Array | undefined>;
}
