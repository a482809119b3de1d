import type { WatchReader } from "../watch-reader.ts";

/** What one topic shows to readers that see the same of it. */
export interface WatchFeed {
  /** Begins for a reader: with the whole. */
  join(reader: WatchReader): void;
  leave(reader: WatchReader): void;
  /** Whether nobody reads it. */
  readonly isIdle: boolean;
  /** Four times a second; `now` in monotonic milliseconds. */
  tick(now: number): void;
}
