import { applyScale } from "../../runtime/core/scaling/apply-scale.ts";
import { MemoryFunctionStore } from "./memory/memory-function-store.ts";
import { reportActivity, type ActivityTotals } from "../../runtime/core/scaling/activity-reporter.ts";
import type { ScaleDecision } from "../../runtime/core/scaling/decide-scale.ts";
import { desireFunction, type DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { readFacts } from "../../runtime/core/functions/function-facts.ts";
import { formatRef } from "../../runtime/core/functions/function-ref.ts";
import type { ActivityReport } from "../../runtime/core/ports/activity.ts";
import { Scaler } from "../../runtime/core/scaling/scaler.ts";

/** A simulated gateway: the test changes its totals, which it reports every second. */
export interface SimulatedGateway {
  readonly totals: Map<string, { finished: number; inFlight: number }>;
  /** Whether its reports are lost. */
  cut: boolean;
  /** Ends without a last report. */
  kill(): void;
  /** Ends with a last report. */
  stop(): void;
}

/** A change that the scaler made, and when. */
export interface SimulatedChange {
  readonly at: number;
  readonly replicas: number;
  readonly because: string;
}

const second = 1_000;

/**
 * Gateways, one scaler and a store on a simulated clock: replicas are ready as soon as they are desired. Needs the fake
 * timers of the test.
 */
export class ScalingSimulation {
  readonly functions = new MemoryFunctionStore();
  readonly changes: SimulatedChange[] = [];
  /** The last decision about each function. */
  readonly decisions = new Map<string, ScaleDecision>();
  readonly #options = { window: 10_000, silenceTimeout: 60_000, wakeTimeout: 60_000 };
  readonly #advance: (milliseconds: number) => void;
  #scaler: Scaler;
  #now = 1_000_000;
  #gateways = 0;

  /** `advance` advances the fake timers. */
  constructor(advance: (milliseconds: number) => void) {
    this.#advance = advance;
    this.#scaler = this.#newScaler();
    void this.functions.watch({
      set: (wanted) => this.#see(wanted),
      removed: (ref) => this.#scaler.forget(formatRef(ref)),
      synced: () => {},
    });
  }

  get now(): number {
    return this.#now;
  }

  get scaler(): Scaler {
    return this.#scaler;
  }

  gateway(): SimulatedGateway {
    this.#gateways += 1;
    const totals = new Map<string, { finished: number; inFlight: number }>();
    const gateway = { totals, cut: false, kill: () => void (gateway.cut = true), stop: () => end() };
    const publish = (report: ActivityReport): void => {
      if (!gateway.cut) this.#scaler.addReport(report, this.#now);
    };
    const entries = (): Iterable<readonly [string, ActivityTotals]> => totals.entries();
    const end = reportActivity({ publish, subscribe: () => () => {} }, `gateway-${this.#gateways}`, entries);
    return gateway;
  }

  async deploy(name: string, labels: Record<string, string>): Promise<void> {
    const deployment = { service: name, image: "none", labels };
    await this.functions.write({ namespace: "functions", name }, (current) =>
      desireFunction(current, "functions", deployment, new Date(this.#now).toISOString()),
    );
  }

  async replicas(name: string): Promise<number | undefined> {
    return (await this.functions.get({ namespace: "functions", name }))?.replicas;
  }

  /** Replaces the scaler by a new one, which knows only what the store holds. */
  async restart(): Promise<void> {
    this.#scaler = this.#newScaler();
    for (const wanted of await this.functions.list("functions")) this.#see(wanted);
  }

  /** Advances time in steps of 100 ms; before each, `act` gets the milliseconds since the start of this run. */
  async run(milliseconds: number, act: (at: number) => void = () => {}): Promise<void> {
    for (let at = 0; at < milliseconds; at += 100) {
      act(at);
      this.#now += 100;
      this.#advance(100);
      if (this.#now % (2 * second) === 0) await this.#sweep();
    }
  }

  async #sweep(): Promise<void> {
    this.#scaler.settle(this.#now);
    this.#scaler.count(new Map(), this.#now);
    for (const { wanted, decision } of this.#scaler.plans(this.#now, this.#now)) {
      this.decisions.set(wanted.name, decision);
      if (decision.action === "keep") continue;
      if (await applyScale(this.functions, wanted, decision, () => this.#now)) {
        this.changes.push({ at: this.#now, replicas: decision.replicas, because: decision.because });
      }
    }
  }

  #see(wanted: DesiredFunction): void {
    const facts = readFacts(wanted.deployment);
    this.#scaler.see(formatRef(wanted), { wanted, facts }, wanted.replicas, this.#now);
  }

  #newScaler(): Scaler {
    return new Scaler({ ...this.#options, idleAfter: ({ zeroDuration }) => zeroDuration }, this.#now);
  }
}
