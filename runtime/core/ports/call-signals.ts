/**
 * Spreads word of single calls between processes: a hint to look at the record now, never the truth itself.
 * Best effort; the ones who listen also look by themselves from time to time.
 */
export interface CallSignals {
  cancelled(id: string): void;
  ended(id: string): void;
  onCancelled(heard: (id: string) => void): () => void;
  onEnded(heard: (id: string) => void): () => void;
}
