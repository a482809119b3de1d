import { PlatformError } from "../../runtime/api/platform-error.ts";

/** Code that reads input from outside, and what must hold for any input (`docs/decisions/0012-fuzzing.md`). */
export interface FuzzTarget {
  readonly name: string;
  /** One sentence: what must hold. */
  readonly promises: string;
  readonly maxBytes: number;
  /** Words of the input's language, one character per byte. */
  readonly words: readonly string[];
  /** Inputs to begin with, one character per byte; at least one. */
  readonly seeds: readonly [string, ...string[]];
  /** Starts what it needs; resolves with a function that stops it. */
  readonly open?: () => Promise<() => Promise<void>>;
  /** Runs one input. Throws when what the target promises does not hold. */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

/** @throws Error with the sentence `what` unless `holds` */
export function mustHold(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Each byte as one character. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The result of `read`, or undefined when it refuses with a PlatformError; any other error is rethrown. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (err) {
    if (err instanceof PlatformError) return undefined;
    throw err;
  }
}
