import type { LogRecord } from "../../../../api/schemas/log-record.ts";

/** Frames over which records are shown that came at once: about as long as it takes until the next ones come. */
const frames = 36;

/** Records on their way to the page: each frame shows a few, where all at once would make one late. */
export class PacedRecords {
  #waiting: LogRecord[] = [];
  #pace = 0;

  /** How many wait. */
  get count(): number {
    return this.#waiting.length;
  }

  add(records: readonly LogRecord[]): void {
    this.#waiting.push(...records);
    this.#pace = Math.ceil(this.#waiting.length / frames);
  }

  /** Takes those of the next frame, in their order. */
  ofFrame(): readonly LogRecord[] {
    return this.#waiting.splice(0, this.#pace);
  }
}
