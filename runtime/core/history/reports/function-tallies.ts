import {
  FunctionTally,
  tallyWidth,
  type FunctionGauges,
  type RollupValues,
  type TallyPlace,
} from "./function-tally.ts";

/** Functions that memory is allocated for at a time. */
const perBlock = 256;

/** What is to be reported of the functions of a process, by `<name>.<namespace>`, in 336 bytes each. */
export class FunctionTallies {
  readonly #tallies = new Map<string, FunctionTally>();
  readonly #free: TallyPlace[] = [];
  #block = new Uint32Array(0);
  #end = 0;

  /** The tally of a function; begins at 0. */
  of(key: string): FunctionTally {
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      tally = new FunctionTally(this.#free.pop() ?? this.#nextPlace());
      this.#tallies.set(key, tally);
    }
    return tally;
  }

  /** What is to be reported of a function now; undefined = nothing. */
  take(key: string, gauges: FunctionGauges): RollupValues | undefined {
    const { inFlight = 0, replicas = 0, queued = 0 } = gauges;
    const isIdle = inFlight === 0 && replicas === 0 && queued === 0;
    // Most functions are never called.
    return isIdle ? this.#tallies.get(key)?.take(gauges) : this.of(key).take(gauges);
  }

  /** The function is gone: one of the same name begins at 0. */
  forget(key: string): void {
    const place = this.#tallies.get(key)?.release();
    if (place === undefined) return;
    this.#tallies.delete(key);
    this.#free.push(place);
  }

  #nextPlace(): TallyPlace {
    if (this.#end === this.#block.length) {
      this.#block = new Uint32Array(perBlock * tallyWidth);
      this.#end = 0;
    }
    const begin = this.#end;
    this.#end += tallyWidth;
    return { numbers: this.#block, begin };
  }
}
