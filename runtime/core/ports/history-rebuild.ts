import type { CallChange, StreamPosition } from "./call-history.ts";

/**
 * A history that is filled anew beside a former one, which answers until `finish`. What cannot be read of the former one
 * is left out. Everything may be done again after an interruption.
 */
export interface HistoryRebuild {
  /** Why, a sentence. */
  readonly reason: string;
  /** How far the former one had read the records; undefined if that cannot be told. */
  readonly position: StreamPosition | undefined;
  /** Whether something of the former one could not be read, as far as was looked. */
  readonly hasLosses: boolean;
  /** False from `finish` on. */
  readonly isUnderWay: boolean;
  /** Stores what the former one has beside calls, and its position; before anything else is stored. */
  seed(): Promise<void>;
  /** Stores some of the calls of the former one, as far as no record says more of them; true if there are more. */
  copySome(): Promise<boolean>;
  /** Stores calls that are not known otherwise; resolves with their number. */
  addUnknown(changes: readonly CallChange[]): Promise<number>;
  /** A namespace is gone: nothing of it is copied or shown. */
  hide(namespace: string): void;
  /** The former history is given up. */
  finish(): Promise<void>;
}
