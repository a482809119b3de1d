import type { AwakeBecause } from "./decide-idle.ts";
import type { KeepBecause, ScaleDecision } from "./decide-scale.ts";
import { scaledBecause, type DesiredFunction, type ScaledBecause } from "../functions/desired-function.ts";
import { formatRef } from "../functions/function-ref.ts";
import type { ScalePlan } from "./scaler.ts";

/** The reason while a requested count is left alone. */
export const onHoldReason = "OnHold";

/** The reason while another scaler sets the count. */
export const externalReason = "ExternalAutoscaler";

/** Reasons that keep replicas which the load does not need. */
const held: { readonly [because in KeepBecause]?: string } = {
  external: externalReason,
  "on-hold": onHoldReason,
  "load-unknown": "LoadUnknown",
  "reports-missing": "ActivityMissing",
  "window-incomplete": "NotSeenLongEnough",
  cooldown: "RecentlyChanged",
  "down-window": "DownWindow",
};
/** Reasons that keep a function from being scaled to zero. */
const awake: { readonly [because in AwakeBecause]?: string } = {
  busy: "InUse",
  "recently-used": "InUse",
  "reports-missing": "ActivityMissing",
  queued: "CallsQueued",
  "queue-unknown": "QueueUnknown",
  waking: "Waking",
};

const heldReasons: ReadonlySet<string> = new Set([...Object.values(held), ...Object.values(awake)]);

/** Whether the reason is one that keeps replicas, not one that changed them. */
export function isHeldReason(reason: string): boolean {
  return heldReasons.has(reason);
}

/**
 * The reason, a word in CamelCase, why there are not fewer replicas; undefined: nothing holds them. Reasons against
 * zero apply only to a function at its minimum; above it the load is the reason.
 */
export function heldBack(decision: ScaleDecision, isMin: boolean): string | undefined {
  if (decision.action === "scale") return undefined;
  return held[decision.because] ?? (isMin && decision.awake !== undefined ? awake[decision.awake] : undefined);
}

function heldMessage(decision: ScaleDecision & { readonly action: "keep" }): string {
  return held[decision.because] === undefined ? `Not scaled to zero: ${decision.awakeMessage}` : decision.message;
}

/** A note to be written for one function, as it was seen. */
export interface HeldNote {
  readonly wanted: DesiredFunction;
  /** Absent: nothing holds its replicas any more. */
  readonly held: ScaledBecause | undefined;
}

/** Per sweep: after a failure that affects all functions there would be thousands. */
const maxNotes = 20;

/**
 * Finds functions whose replicas are held for so long that a person may ask why. Short holds are not noted, as each
 * note is a write. Times are monotonic milliseconds.
 */
export class HeldReplicas {
  readonly #after: number;
  /** Functions that are held and not noted yet, or no longer held and still noted. */
  #pending = new Map<string, { readonly reason: string | undefined; readonly since: number }>();
  #next = new Map<string, { readonly reason: string | undefined; readonly since: number }>();
  #notes: HeldNote[] = [];

  /** Notes what holds replicas for `after` milliseconds or longer. */
  constructor(after: number) {
    this.#after = after;
  }

  /** Records one decision of the sweep at `now`; `wallClock` is the same in Unix milliseconds. */
  see({ wanted, rules, decision }: ScalePlan, now: number, wallClock: number): void {
    const reason = heldBack(decision, wanted.replicas <= rules.min);
    if (reason === wanted.held?.reason || decision.action === "scale") return;
    const key = formatRef(wanted);
    const known = this.#pending.get(key);
    const pending = known !== undefined && known.reason === reason ? known : { reason, since: now };
    this.#next.set(key, pending);
    if (now - pending.since < this.#after || this.#notes.length >= maxNotes) return;
    const why = reason === undefined ? undefined : scaledBecause(reason, heldMessage(decision), wallClock);
    this.#notes.push({ wanted, held: why });
  }

  /** Returns the notes to write now, and begins the next sweep. */
  take(): readonly HeldNote[] {
    const notes = this.#notes;
    this.#notes = [];
    this.#pending = this.#next;
    this.#next = new Map();
    return notes;
  }
}
