/**
 * Signals between processes about single calls: a hint to read the record now, never a source of truth. Best effort;
 * listeners also read the record from time to time.
 */
export interface CallSignals {
  cancelled(id: string): void;
  ended(id: string): void;
  onCancelled(listener: (id: string) => void): () => void;
  onEnded(listener: (id: string) => void): () => void;
}
