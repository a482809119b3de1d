/**
 * Objects of one kind that are to be reconciled.
 *
 * - `open` reports the key of every existing object, then of each that changed itself or through a related object; it
 *   rejects with `provider_unavailable` when they cannot be read.
 * - `reconcile` reconciles one object as it is at that moment. It is idempotent, and rejects when it failed, to be
 *   called again later.
 */
export interface OperatedKind {
  /** Name in log lines and metrics. */
  readonly name: string;
  open(changed: (key: string) => void): Promise<void>;
  /** Keys of all existing objects. */
  keys(): Iterable<string>;
  /** Resolves with the milliseconds after which to reconcile again even without a change; undefined: never. */
  reconcile(key: string): Promise<number | undefined>;
  close(): Promise<void>;
}
