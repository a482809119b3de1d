import type { StreamPosition } from "../../core/ports/call-history.ts";
import type { RecordBatch } from "../../core/ports/record-changes.ts";

/** Milliseconds without a batch after which it is not known whether anything changed. */
const silence = 8_000;

/** Clocks, Unix and monotonic milliseconds. */
export interface ReadClocks {
  /** The broker's. */
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** How far the records were read and stored. */
export class ReadState {
  readonly #clocks: ReadClocks;
  #at: number;
  #levelAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: ReadClocks) {
    this.#clocks = clocks;
    this.#at = clocks.now();
  }

  /** Reading begins after `position`. */
  begin(position: StreamPosition | undefined): void {
    this.#at = position?.at ?? this.#at;
    this.#levelAt = Number.NEGATIVE_INFINITY;
  }

  /** A batch was stored. */
  stored({ position, isLevel }: RecordBatch): void {
    this.#at = position.at;
    this.#levelAt = isLevel ? this.#clocks.monotonic() : Number.NEGATIVE_INFINITY;
  }

  /** Seconds from the oldest change that may not be stored yet until now. */
  get lagSeconds(): number {
    if (this.#clocks.monotonic() - this.#levelAt < silence) return 0;
    return Math.max(0, this.#clocks.now() - this.#at) / 1_000;
  }
}
