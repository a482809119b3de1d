import type { DeadLetterFacts } from "./dead-letters.ts";

/** Reads what is known of all calls and callbacks that were given up, without what was sent. */
export interface LetterFacts {
  /** Oldest first, some at a time; ends with the last one there was at its begin. Throws when they cannot be read. */
  all(signal: AbortSignal): AsyncIterable<readonly DeadLetterFacts[]>;
}
