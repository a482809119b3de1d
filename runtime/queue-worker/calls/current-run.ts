import type { ClaimedCall } from "./claimed-call.ts";
import type { Lease } from "../lease.ts";

/** Why a run was cut off from outside. */
export type Cut = "cancelled" | "handed-back";

/** A run under way, as far as it can be cut off from outside. */
export class CurrentRun {
  readonly #held: ClaimedCall;
  readonly #lease: Lease;
  readonly #stop = new AbortController();
  #cut: Cut | undefined;
  #over = false;

  constructor(held: ClaimedCall, lease: Lease) {
    this.#held = held;
    this.#lease = lease;
  }

  /** Why it was cut off; undefined if it was not. */
  get cut(): Cut | undefined {
    return this.#cut;
  }

  /** Word came that the call was cancelled: the record decides. */
  heardCancelled(): void {
    if (this.#over) return;
    void this.#held.isCancelled().then((cancelled) => {
      if (cancelled) this.#cutOff("cancelled");
    });
  }

  /** The worker stops: the run is cut off, unless it is already over. */
  handBack(): void {
    if (!this.#over) this.#cutOff("handed-back");
  }

  /**
   * Does `act`. As long as that lasts it can be cut off, and is when the lease is lost: then `signal` aborts. Each
   * heartbeat touches the record, and so learns of a cancel that was missed.
   */
  async whileCuttable<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#over = false;
    this.#lease.touchWith(async () => {
      const touched = await this.#held.touch();
      if (touched !== "not-ours" || this.#held.entry.state !== "cancelled") return touched;
      this.#cutOff("cancelled");
      return "ours";
    });
    try {
      return await act(AbortSignal.any([this.#stop.signal, this.#lease.lost]));
    } finally {
      this.#over = true;
      this.#lease.stopTouching();
    }
  }

  #cutOff(cut: Cut): void {
    this.#cut ??= cut;
    this.#stop.abort();
  }
}

/** The runs of a worker, by call. */
export class CurrentRuns {
  readonly #runs = new Map<string, CurrentRun>();
  #handBack = false;

  get size(): number {
    return this.#runs.size;
  }

  find(id: string): CurrentRun | undefined {
    return this.#runs.get(id);
  }

  add(id: string, run: CurrentRun): void {
    this.#runs.set(id, run);
    if (this.#handBack) run.handBack();
  }

  /** After a takeover the call may run here a second time, while the first run still winds down. */
  forget(id: string, run: CurrentRun): void {
    if (this.#runs.get(id) === run) this.#runs.delete(id);
  }

  /** Cuts all off, those to come too. */
  handBack(): void {
    this.#handBack = true;
    for (const run of this.#runs.values()) run.handBack();
  }
}
