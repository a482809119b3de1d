/**
 * Objects of one kind that are to be made true.
 *
 * - `open` tells the key of every object that is there, then of each that changes, or on which something depends that
 *   changed; it rejects with `provider_unavailable` when they cannot be read.
 * - `reconcile` makes one true, as it is at that moment; it may be called again at any time and does nothing then. It
 *   rejects when it could not, to be called again later.
 */
export interface OperatedKind {
  /** In log lines and metrics. */
  readonly name: string;
  open(changed: (key: string) => void): Promise<void>;
  /** All that are there. */
  keys(): Iterable<string>;
  /** Resolves with the milliseconds after which to look again without any change; undefined: never. */
  reconcile(key: string): Promise<number | undefined>;
  close(): Promise<void>;
}
