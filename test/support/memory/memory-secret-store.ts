import { PlatformError } from "../../../runtime/api/platform-error.ts";
import type { SecretRef, SecretStore } from "../../../runtime/core/ports/secret-store.ts";

/** Keeps secrets in this process. */
export class MemorySecretStore implements SecretStore {
  readonly #values = new Map<string, { readonly ref: SecretRef; readonly value: Uint8Array }>();

  async list(namespace: string): Promise<readonly string[]> {
    const refs = [...this.#values.values()].map(({ ref }) => ref);
    return refs
      .filter((ref) => ref.namespace === namespace)
      .map(({ name }) => name)
      .sort();
  }

  async create(ref: SecretRef, value: Uint8Array): Promise<void> {
    if (this.#values.has(keyOf(ref))) {
      throw new PlatformError("secret_exists", `Cannot create secret "${ref.name}": it exists already`);
    }
    this.#put(ref, value);
  }

  async replace(ref: SecretRef, value: Uint8Array): Promise<void> {
    this.#mustExist("replace", ref);
    this.#put(ref, value);
  }

  async remove(ref: SecretRef): Promise<void> {
    this.#mustExist("remove", ref);
    this.#values.delete(keyOf(ref));
  }

  async removeAll(namespace: string): Promise<void> {
    for (const { ref } of this.#values.values()) if (ref.namespace === namespace) this.#values.delete(keyOf(ref));
  }

  /** The value that replicas would get. */
  valueOf(ref: SecretRef): Uint8Array | undefined {
    return this.#values.get(keyOf(ref))?.value;
  }

  #put({ namespace, name }: SecretRef, value: Uint8Array): void {
    this.#values.set(keyOf({ namespace, name }), { ref: { namespace, name }, value: Uint8Array.from(value) });
  }

  #mustExist(what: string, ref: SecretRef): void {
    if (this.#values.has(keyOf(ref))) return;
    throw new PlatformError(
      "secret_not_found",
      `Cannot ${what} secret "${ref.name}" of namespace "${ref.namespace}": it does not exist`,
    );
  }
}

function keyOf({ namespace, name }: SecretRef): string {
  return `${namespace}/${name}`;
}
