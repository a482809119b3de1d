import type { CallbackSecrets } from "../../../runtime/core/ports/callback-secrets.ts";
import type { SecretRef } from "../../../runtime/core/ports/secret-store.ts";

/** Secrets of callbacks in memory. */
export class MemoryCallbackSecrets implements CallbackSecrets {
  readonly #values = new Map<string, Uint8Array>();

  async read({ namespace, name }: SecretRef): Promise<Uint8Array | undefined> {
    return this.#values.get(`${namespace}/${name}`);
  }

  /** Undefined removes it. */
  set({ namespace, name }: SecretRef, value: Uint8Array | undefined): void {
    if (value === undefined) this.#values.delete(`${namespace}/${name}`);
    else this.#values.set(`${namespace}/${name}`, value);
  }
}
