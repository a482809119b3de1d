import { formatDuration } from "../../api/duration.ts";
import type { ReportCoverage } from "./reporting-sources.ts";
import type { ScaleRules } from "./scale-rules.ts";

/** Facts for the decision to scale one function to zero. Times are monotonic milliseconds. */
export interface IdleFacts {
  /** Includes the label `scale.zero`. */
  readonly rules: Pick<ScaleRules, "zero">;
  /** Milliseconds without calls after which it goes to zero. */
  readonly idleAfter: number;
  readonly ready: number;
  /** When it was deployed, woken or given more replicas last, or first seen. */
  readonly raisedAt: number;
  /** When it was first ready after that; undefined: not yet. */
  readonly readyAt: number | undefined;
  /** Calls in flight, including those that wait for a replica, streams and WebSockets. */
  readonly inFlight: number;
  readonly lastCallAt: number | undefined;
  readonly coverage: ReportCoverage;
  /** Its calls in queues; undefined: not known now. */
  readonly queued: number | undefined;
  /** Longest that callers wait for a first replica. */
  readonly wakeTimeout: number;
  readonly now: number;
}

/** Why a function is not scaled to zero. */
export type AwakeBecause =
  | "not-labelled"
  | "busy"
  | "queued"
  | "queue-unknown"
  | "waking"
  | "reports-missing"
  | "recently-used";

/** Whether a function is scaled to zero, and why, also as a sentence, which is built when read. */
export type IdleDecision =
  | { readonly kind: "sleep"; readonly message: string }
  | { readonly kind: "awake"; readonly because: AwakeBecause; readonly message: string };

class Awake {
  readonly kind = "awake";
  readonly because: AwakeBecause;
  readonly #facts: IdleFacts;

  constructor(because: AwakeBecause, facts: IdleFacts) {
    this.because = because;
    this.#facts = facts;
  }

  get message(): string {
    const { inFlight, coverage: hearing, idleAfter, queued = 0 } = this.#facts;
    switch (this.because) {
      case "not-labelled":
        return "scale.zero is not set";
      case "busy":
        return `${calls(inFlight)} under way`;
      case "reports-missing":
        return hearing.kind === "missing" ? hearing.message : "reports are missing";
      case "waking":
        return "it is waking and has no ready replica yet";
      case "recently-used":
        return `idle for less than ${formatDuration(idleAfter)}`;
      case "queue-unknown":
        return "the queue cannot be read";
      case "queued":
        return `${calls(queued)} queued`;
      default:
        return this.because satisfies never;
    }
  }
}

/**
 * Whether a function is scaled to zero: only if its label allows it, all processes that should report did so for the
 * whole of `idleAfter` without a call in it, and no call is in flight, queued or waiting for a first replica.
 */
export function decideIdle(facts: IdleFacts): IdleDecision {
  const because = awakeBecause(facts);
  if (because !== undefined) return new Awake(because, facts);
  return { kind: "sleep", message: `No call for ${formatDuration(facts.idleAfter)}` };
}

function awakeBecause(facts: IdleFacts): AwakeBecause | undefined {
  const { idleAfter, inFlight, queued, coverage: hearing, now } = facts;
  if (!facts.rules.zero) return "not-labelled";
  if (inFlight > 0) return "busy";
  if (hearing.kind === "missing") return "reports-missing";
  if (facts.ready === 0 && facts.readyAt === undefined && now - facts.raisedAt < facts.wakeTimeout) return "waking";
  const quietSince = Math.max(
    facts.raisedAt,
    facts.readyAt ?? facts.raisedAt,
    facts.lastCallAt ?? facts.raisedAt,
    hearing.since,
  );
  if (now - quietSince < idleAfter) return "recently-used";
  if (queued === undefined) return "queue-unknown";
  return queued > 0 ? "queued" : undefined;
}

function calls(count: number): string {
  return count === 1 ? "1 call is" : `${count} calls are`;
}
