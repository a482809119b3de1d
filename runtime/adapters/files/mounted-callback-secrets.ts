import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { callbackSecretFile } from "../../core/callbacks/callback-secret.ts";
import type { CallbackSecrets } from "../../core/ports/callback-secrets.ts";
import type { SecretRef } from "../../core/ports/secret-store.ts";

/** Reads the copies that the operator makes, mounted in one directory. */
export class MountedCallbackSecrets implements CallbackSecrets {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(ref: SecretRef): Promise<Uint8Array | undefined> {
    try {
      // Kubernetes mounts each file as a symbolic link, so that all of them change at once.
      return await readFile(join(this.#directory, callbackSecretFile(ref)));
    } catch (err) {
      if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
      throw err;
    }
  }
}
