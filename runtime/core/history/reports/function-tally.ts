import { durationCellCount } from "../rollups/duration-cells.ts";
import type { RollupPoint } from "../rollups/rollup.ts";
import { durationCell } from "./duration-cell.ts";

/** What a process knows of a function now; what is absent it does not know. */
export interface FunctionGauges {
  /** Absent in a process that counts no calls. */
  readonly inFlight?: number | undefined;
  readonly replicas?: number | undefined;
  readonly queued?: number | undefined;
}

/** What a point says of its function. */
export type RollupValues = Omit<RollupPoint, "namespace" | "name" | "source" | "at" | "scalings">;

const classCount = 5;
/** Where the numbers of a function are, after the cells of its durations. */
const place = {
  classes: durationCellCount,
  coldStarts: durationCellCount + classCount,
  replicas: durationCellCount + classCount + 1,
  queued: durationCellCount + classCount + 2,
} as const;

/** Numbers of one tally. */
export const tallyWidth = durationCellCount + classCount + 3;

/** Where the numbers of a tally are, in memory that many share: objects of their own would take twice as much. */
export interface TallyPlace {
  readonly numbers: Uint32Array;
  readonly begin: number;
}

/** The calls of one function that ended since the last report, and what was known of the rest then. */
export class FunctionTally {
  #numbers: Uint32Array;
  #begin: number;

  /** The numbers there are 0. */
  constructor({ numbers, begin }: TallyPlace) {
    this.#numbers = numbers;
    this.#begin = begin;
  }

  /** A call ended with `status` after `duration` milliseconds; `isCold`: it waited for a replica to start. */
  add(status: number, duration: number, isCold: boolean): void {
    this.#increment(durationCell(duration));
    this.#increment(place.classes + classOf(status));
    if (isCold) this.#increment(place.coldStarts);
  }

  /** All that is known, if anything changed since the last time or is in flight; calls are counted from 0 again. */
  take({ inFlight, replicas, queued }: FunctionGauges): RollupValues | undefined {
    const calls = Array.from({ length: classCount }, (_, index) => this.#at(place.classes + index));
    const wasCalled = calls.some((count) => count > 0);
    const hasChanged = wasCalled || this.#differs(place.replicas, replicas) || this.#differs(place.queued, queued);
    if (!hasChanged && (inFlight ?? 0) === 0) return undefined;
    const counted = inFlight === undefined ? {} : { calls, ...this.#takeCalls(wasCalled), inFlight };
    this.#keep(place.replicas, replicas);
    this.#keep(place.queued, queued);
    return {
      ...counted,
      ...(replicas === undefined ? {} : { replicas }),
      ...(queued === undefined ? {} : { queued }),
    };
  }

  /** Gives up its place, whose numbers are 0 then: what is added from now on counts for nothing. */
  release(): TallyPlace {
    const left = { numbers: this.#numbers, begin: this.#begin };
    left.numbers.fill(0, left.begin, left.begin + tallyWidth);
    this.#numbers = new Uint32Array(tallyWidth);
    this.#begin = 0;
    return left;
  }

  #takeCalls(wasCalled: boolean): Pick<RollupValues, "coldStarts" | "durations"> {
    if (!wasCalled) return { coldStarts: 0 };
    const durations: number[] = [];
    for (let cell = 0; cell < durationCellCount; cell += 1) {
      const count = this.#at(cell);
      if (count > 0) durations.push(cell, count);
    }
    const coldStarts = this.#at(place.coldStarts);
    this.#numbers.fill(0, this.#begin, this.#begin + place.replicas);
    return { coldStarts, durations };
  }

  #increment(index: number): void {
    const at = this.#begin + index;
    this.#numbers[at] = (this.#numbers[at] ?? 0) + 1;
  }

  #at(index: number): number {
    return this.#numbers[this.#begin + index] ?? 0;
  }

  #differs(index: number, known: number | undefined): boolean {
    return known !== undefined && known !== this.#at(index);
  }

  #keep(index: number, known: number | undefined): void {
    if (known !== undefined) this.#numbers[this.#begin + index] = known;
  }
}

/** Index of the first digit of a status. */
function classOf(status: number): number {
  return Math.min(Math.max(Math.floor(status / 100), 1), classCount) - 1;
}
