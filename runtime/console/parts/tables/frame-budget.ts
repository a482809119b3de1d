import { browserFrames, type FrameRequests } from "../../data/look/frame-requests.ts";

export interface FrameBudgetParts {
  /** How much may be done in a frame. */
  readonly most: number;
  /** Goes on with what waits. */
  readonly onFrame: () => void;
  readonly frames?: FrameRequests;
  readonly now?: () => number;
}

/** Spreads work over frames, so that none of them is late. */
export class FrameBudget {
  readonly #parts: Required<FrameBudgetParts>;
  #left: number;
  #usedAt = Number.NEGATIVE_INFINITY;
  #waits = false;
  #handle: number | undefined;

  constructor(parts: FrameBudgetParts) {
    this.#parts = {
      frames: browserFrames,
      now: () => performance.now(),
      ...parts,
    };
    this.#left = parts.most;
  }

  /** How much may still be done in this frame. */
  get left(): number {
    return this.#left;
  }

  /** What is to be done from now on waits for the next frame: this one has had its work. */
  postpone(): void {
    this.use(this.#left);
  }

  /** Takes note of what was done, and whether more of it waits. */
  use(done: number, waits = false): void {
    this.#waits = waits;
    if (done > 0) this.#usedAt = this.#parts.now();
    this.#left = Math.max(0, this.#left - done);
    if (waits || this.#left < this.#parts.most) this.#handle ??= this.#parts.frames.request(this.#begin);
  }

  stop(): void {
    if (this.#handle !== undefined) this.#parts.frames.cancel(this.#handle);
    this.#handle = undefined;
  }

  readonly #begin = (begun: number): void => {
    this.#handle = undefined;
    // A scroll in this frame came before and did its work already.
    if (this.#usedAt >= begun) {
      this.#handle = this.#parts.frames.request(this.#begin);
      return;
    }
    this.#left = this.#parts.most;
    if (this.#waits) this.#parts.onFrame();
  };
}
