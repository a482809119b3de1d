import type { CallbackSecrets } from "../../core/ports/callback-secrets.ts";
import type { SecretRef } from "../../core/ports/secret-store.ts";
import { readSecret, secretPath } from "./secret-files.ts";

/** Reads them where `FileSecretStore` keeps all secrets. */
export class FileCallbackSecrets implements CallbackSecrets {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(ref: SecretRef): Promise<Uint8Array | undefined> {
    return readSecret(secretPath(this.#directory, ref));
  }
}
