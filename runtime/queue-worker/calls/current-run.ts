import type { ClaimedCall } from "./claimed-call.ts";
import type { Lease } from "../lease.ts";

/** Why a run was aborted from outside. */
export type Cut = "cancelled" | "handed-back";

/** A run in flight, as far as it can be aborted from outside. */
export class CurrentRun {
  readonly #held: ClaimedCall;
  readonly #lease: Lease;
  readonly #stop = new AbortController();
  #cut: Cut | undefined;
  #ended = false;

  constructor(held: ClaimedCall, lease: Lease) {
    this.#held = held;
    this.#lease = lease;
  }

  /** Why it was aborted; undefined if it was not. */
  get cut(): Cut | undefined {
    return this.#cut;
  }

  /** The call is reported as cancelled: its record decides. */
  heardCancelled(): void {
    if (this.#ended) return;
    void this.#held.isCancelled().then((cancelled) => {
      if (cancelled) this.#abort("cancelled");
    });
  }

  /** The worker stops: the run is aborted, unless it has already ended. */
  handBack(): void {
    if (!this.#ended) this.#abort("handed-back");
  }

  /**
   * Runs `act`. Until that ends it can be aborted, and is when the lease is lost: then `signal` aborts. Each heartbeat
   * renews the record, and so learns of a cancel whose signal was missed.
   */
  async whileCuttable<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#ended = false;
    this.#lease.touchWith(async () => {
      const renewal = await this.#held.touch();
      if (renewal !== "not-ours" || this.#held.entry.state !== "cancelled") return renewal;
      this.#abort("cancelled");
      return "ours";
    });
    try {
      return await act(AbortSignal.any([this.#stop.signal, this.#lease.lost]));
    } finally {
      this.#ended = true;
      this.#lease.stopTouching();
    }
  }

  #abort(cut: Cut): void {
    this.#cut ??= cut;
    this.#stop.abort();
  }
}

/** The runs in flight of a worker, by call. */
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

  /** Removes only `run` itself: after a takeover the call may run here again while the first run still winds down. */
  forget(id: string, run: CurrentRun): void {
    if (this.#runs.get(id) === run) this.#runs.delete(id);
  }

  /** Aborts all runs, including those added later. */
  handBack(): void {
    this.#handBack = true;
    for (const run of this.#runs.values()) run.handBack();
  }
}
