import { countedMinute } from "./count-times.ts";

/** What a stored call counts for, as its columns have it. */
export interface CountedCall {
  readonly fn: number;
  readonly state: number;
  readonly accepted: number;
}

/** By how much a transaction changes the counts that are kept with the calls. */
export class CountChanges {
  readonly functions = new Map<number, number>();
  readonly states = new Map<number, number>();
  readonly minutes = new Map<number, number>();

  add(call: CountedCall): void {
    this.#change(call, 1);
  }

  subtract(call: CountedCall): void {
    this.#change(call, -1);
  }

  clear(): void {
    for (const counts of [this.functions, this.states, this.minutes]) counts.clear();
  }

  #change({ fn, state, accepted }: CountedCall, by: 1 | -1): void {
    increase(this.functions, fn, by);
    increase(this.states, state, by);
    increase(this.minutes, Math.floor(accepted / countedMinute), by);
  }
}

function increase(counts: Map<number, number>, key: number, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
