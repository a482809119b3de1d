/** Names one secret. */
export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Keeps secrets. Values are passed to replicas only and cannot be read through this port.
 *
 * - `create` rejects with `secret_exists`; `replace` and `remove` reject with `secret_not_found`.
 * - A replaced value reaches running replicas whole, never as a mix of old and new.
 */
export interface SecretStore {
  /** Names, sorted. */
  list(namespace: string): Promise<readonly string[]>;
  create(ref: SecretRef, value: Uint8Array): Promise<void>;
  replace(ref: SecretRef, value: Uint8Array): Promise<void>;
  remove(ref: SecretRef): Promise<void>;
  /** Removes all secrets of a namespace, and what was created to hold them; resolves also when there are none. */
  removeAll(namespace: string): Promise<void>;
}
