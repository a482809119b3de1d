import { formatDuration } from "../../api/duration.ts";
import { externalMessage, holdMessage, type CountHold } from "./count-hold.ts";
import { decideIdle, type AwakeBecause, type IdleDecision, type IdleFacts } from "./decide-idle.ts";
import { isSurge, replicasForLoad } from "./decide-replicas.ts";
import type { DesiredHistory } from "./desired-history.ts";
import type { ScaleRules } from "./scale-rules.ts";

/** The load that a function is scaled by, averaged, and since when it was measured without a gap. */
export interface Load {
  readonly value: number;
  /** The same averaged over the last moments only, where that tells a surge from noise. */
  readonly recent?: number;
  readonly since: number;
}

/** Facts for the decision on the replicas of one function. Times are monotonic milliseconds. */
export interface ScaleFacts extends IdleFacts {
  readonly rules: ScaleRules;
  /** Replicas desired now. */
  readonly replicas: number;
  /** When that, or the deployment, was last changed. */
  readonly changedAt: number;
  /** Undefined: not known. */
  readonly load: Load | undefined;
  /** Milliseconds of load and reports without a gap before anything is scaled down. */
  readonly window: number;
  /** Name of another scaler that sets the count. */
  readonly external: string | undefined;
  /** Set while a requested count is to be left alone. */
  readonly hold: CountHold | undefined;
  /** Counts desired before; the decision adds the one desired now. */
  readonly history: DesiredHistory;
}

/** Why replicas stay. */
export type KeepBecause =
  | "external"
  | "scaled-to-zero"
  | "fixed"
  | "on-hold"
  | "steady"
  | "load-unknown"
  | "reports-missing"
  | "window-incomplete"
  | "cooldown"
  | "down-window";
/** Why replicas change. */
export type ChangeBecause = "idle" | "below-min" | "above-max" | "load-rose" | "load-fell";

/** What to do with the replicas of a function, and why, also as a sentence. For `keep` it is built when read. */
export type ScaleDecision =
  | {
      readonly action: "keep";
      readonly because: KeepBecause;
      readonly message: string;
      /** Why the function is not scaled to zero, if it may be. */
      readonly awake?: AwakeBecause | undefined;
      readonly awakeMessage?: string | undefined;
    }
  | {
      readonly action: "scale";
      readonly replicas: number;
      readonly because: ChangeBecause;
      readonly message: string;
    };

/** Most decisions keep the replicas and are never read, so the sentence is built when read. */
class Kept {
  readonly action = "keep";
  readonly because: KeepBecause;
  readonly #why: () => string;
  #idle: (IdleDecision & { readonly kind: "awake" }) | undefined;

  constructor(because: KeepBecause, why: () => string) {
    this.because = because;
    this.#why = why;
  }

  get message(): string {
    return this.#why();
  }

  get awake(): AwakeBecause | undefined {
    return this.#idle?.because;
  }

  get awakeMessage(): string | undefined {
    return this.#idle?.message;
  }

  /** Adds why a function that may be scaled to zero is not. */
  withIdle(idle: IdleDecision & { readonly kind: "awake" }): this {
    this.#idle = idle;
    return this;
  }
}

const scaledToZero = new Kept("scaled-to-zero", () => "Scaled to zero; a call wakes it");

/**
 * Decides on one function, once per sweep (contract §5.1). A function leaves zero only by a call or by hand, a count on
 * hold is changed only to be within the bounds, and one that another scaler sets is never changed.
 */
export function decideScale(facts: ScaleFacts): ScaleDecision {
  const { external } = facts;
  if (external !== undefined) {
    facts.history.clear();
    return new Kept("external", () => externalMessage(external));
  }
  if (facts.replicas === 0) {
    facts.history.clear();
    return scaledToZero;
  }
  const idle = facts.rules.zero && facts.hold === undefined ? decideIdle(facts) : undefined;
  if (idle?.kind === "sleep") return { action: "scale", replicas: 0, because: "idle", message: idle.message };
  const decision = decideByLoad(facts);
  return decision.action === "keep" && idle !== undefined ? decision.withIdle(idle) : decision;
}

function decideByLoad(facts: ScaleFacts): Kept | (ScaleDecision & { readonly action: "scale" }) {
  const { rules, replicas, load, hold: requestedHold, history, coverage, now, window } = facts;
  const { min, max } = rules;
  if (replicas < min) return scale(min, "below-min", `The label scale.min is ${min}`);
  if (replicas > max) return scale(max, "above-max", `The label scale.max is ${max}`);
  const onHold = requestedHold && new Kept("on-hold", () => holdMessage(replicas, requestedHold));
  if (min === max) return onHold ?? new Kept("fixed", () => `scale.min and scale.max are ${min}`);
  if (load === undefined) {
    history.clear();
    return onHold ?? new Kept("load-unknown", () => `The ${rules.type} load is not known`);
  }

  const surging = isSurge(load, replicas, rules, now - facts.raisedAt < window);
  const rising = surging ? (load.recent ?? load.value) : load.value;
  const { up } = replicasForLoad(rising, rules);
  const { down } = replicasForLoad(load.value, rules);
  history.note(Math.max(up, down), now, rules.downWindow);
  if (onHold !== undefined) return onHold;
  if (up > replicas) return scale(up, "load-rose", loadMessage(rising, rules, up));
  if (down >= replicas) return new Kept("steady", () => loadMessage(load.value, rules, replicas));
  const hold = (because: KeepBecause, why: () => string): Kept =>
    new Kept(because, () => `${loadMessage(load.value, rules, down)}, but ${why()}`);
  if (coverage.kind === "missing") return hold("reports-missing", () => coverage.message);
  if (now - Math.max(load.since, coverage.since) < window) {
    return hold("window-incomplete", () => `load and reports are known for less than ${formatDuration(window)}`);
  }
  if (now - facts.changedAt < window) {
    return hold("cooldown", () => `it was changed less than ${formatDuration(window)} ago`);
  }
  const highest = history.highest(now, rules.downWindow);
  if (highest === undefined || highest >= replicas) {
    return hold("down-window", () => `scale.down.window is ${formatDuration(rules.downWindow)}`);
  }
  return scale(highest, "load-fell", loadMessage(load.value, rules, highest));
}

const units = {
  rps: "calls per second",
  capacity: "calls in flight",
  cpu: "thousandths of a CPU",
  queue: "queued calls",
} as const satisfies Record<ScaleRules["type"], string>;

function loadMessage(load: number, { type, target, targetProportion, max }: ScaleRules, replicas: number): string {
  const each = target * targetProportion;
  const plural = replicas === 1 ? "1 replica" : `${replicas} replicas`;
  const bounded = replicas === max && load > max * each ? `more than scale.max, ${plural}` : plural;
  return `${round(load)} ${units[type]}, at ${round(each)} each, need ${bounded}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function scale(
  replicas: number,
  because: ChangeBecause,
  message: string,
): ScaleDecision & { readonly action: "scale" } {
  return { action: "scale", replicas, because, message };
}
