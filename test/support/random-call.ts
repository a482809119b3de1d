import fc from "fast-check";

import { callbackAfter, type CallbackVerdict } from "../../runtime/core/callbacks/decide-callback.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import {
  callbackRedrivenEntry,
  cancelledEntry,
  claimedEntry,
  endedEntry,
  givenUpRun,
  handedBackEntry,
  isDeadReason,
  redrivenEntry,
  waitingEntry,
} from "../../runtime/core/calls/call-transitions.ts";
import type { CallChange } from "../../runtime/core/ports/call-history.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";

/** What may happen to a call; what its state rules out is skipped. */
const events = [
  "claim",
  "done",
  "rejected",
  "retry",
  "hand-back",
  "take-over",
  "cancel",
  "expire",
  "crash",
  "settle",
  "callback-retry",
  "callback-sent",
  "callback-failed",
  "redrive",
] as const;
type CallEvent = (typeof events)[number];

/** Drawn more often than others: records truncate only what they have many of. */
const frequent: readonly CallEvent[] = [
  "claim",
  "retry",
  "claim",
  "retry",
  "claim",
  "retry",
  "settle",
  "callback-retry",
];

/** Steps of a timeline, counted while the call was made. */
export type StepCounts = Record<
  "taken" | "retry" | "lost" | "handedBack" | "cancelled" | "ended" | "deadLetter" | "redriven" | "callbackTry",
  number
>;

/** All revisions of the record of one call, in order, and what happened to it. */
export interface RandomCall {
  readonly changes: readonly Extract<CallChange, { kind: "entry" }>[];
  readonly counts: StepCounts;
  /** Later than all that happened, before any callback is given up for lost. */
  readonly now: number;
}

const start = 1_800_000_000_000;
const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";

/** Calls of up to `maxLength` events. */
export function randomCalls(maxLength = 100): fc.Arbitrary<RandomCall> {
  return fc
    .tuple(fc.array(fc.constantFrom(...events, ...frequent), { maxLength, size: "max" }), fc.boolean())
    .map(([happened, hasCallback]) => new CallStory(hasCallback).tell(happened));
}

class CallStory {
  #now = start;
  #entry: CallEntry;
  readonly #changes: Extract<CallChange, { kind: "entry" }>[] = [];
  readonly #counts: StepCounts = {
    taken: 0,
    retry: 0,
    lost: 0,
    handedBack: 0,
    cancelled: 0,
    ended: 0,
    deadLetter: 0,
    redriven: 0,
    callbackTry: 0,
  };

  constructor(hasCallback: boolean) {
    const call = sampleCall({
      id,
      start: BigInt(start) * 1_000_000n,
      callbackUrl: hasCallback ? "https://u.example/p?key=secret" : undefined,
    });
    this.#entry = sampleEntry({ expires: start + 1e9 }, call);
    this.#write(this.#entry);
  }

  tell(happened: readonly CallEvent[]): RandomCall {
    for (const event of happened) {
      this.#now += 7;
      const next = this.#after(event);
      if (next !== undefined) this.#write(next);
    }
    return { changes: this.#changes, counts: this.#counts, now: this.#now + 1 };
  }

  #write(entry: CallEntry): void {
    this.#entry = entry;
    // Revisions of other calls lie between.
    this.#changes.push({ kind: "entry", id, revision: 3 * this.#changes.length + 1, entry });
  }

  #after(event: CallEvent): CallEntry | undefined {
    switch (event) {
      case "claim":
      case "expire":
        return this.#whileWaiting(event);
      case "done":
      case "rejected":
      case "retry":
      case "hand-back":
      case "take-over":
      case "crash":
        return this.#entry.state === "running" ? this.#whileRunning(event) : undefined;
      case "cancel":
        if (this.#entry.ended !== null) return undefined;
        this.#count("cancelled", "ended");
        return cancelledEntry(this.#entry, this.#now);
      default:
        return this.#entry.ended === null ? undefined : this.#afterEnd(event);
    }
  }

  #whileWaiting(event: "claim" | "expire"): CallEntry | undefined {
    const { state } = this.#entry;
    if (state !== "queued" && state !== "waiting") return undefined;
    if (event === "claim") return this.#claimed(false);
    this.#count("ended");
    const end = { now: this.#now, status: 504, duration: 0, error: givenUpRun.expired };
    return endedEntry(this.#entry, { state: "failed", reason: "expired", end, result: null });
  }

  #claimed(takeover: boolean): CallEntry {
    this.#count("taken", ...(takeover ? (["lost"] as const) : []));
    const worker = `node-${this.#now % 3}:1`;
    return claimedEntry(this.#entry, { owner: "me", takeover, now: this.#now, maxRetries: 9, worker });
  }

  #whileRunning(event: "done" | "rejected" | "retry" | "hand-back" | "take-over" | "crash"): CallEntry {
    const place = { replica: `10.0.0.${this.#now % 5}:8080`, coldStart: this.#now % 4 };
    const end = { now: this.#now, status: 500, duration: 2.5, error: undefined, ...place };
    switch (event) {
      case "done":
        this.#count("ended");
        return endedEntry(this.#entry, { state: "done", end: { ...end, status: 200 }, result: null });
      case "rejected":
        this.#count("ended");
        return endedEntry(this.#entry, { state: "failed", reason: "exhausted", end, result: null });
      case "retry": {
        this.#count("retry");
        const error = this.#now % 2 === 0 ? "reset by peer ".repeat(40) : undefined;
        return waitingEntry(this.#entry, { ...end, error }, this.#now + 3);
      }
      case "hand-back":
        this.#count("handedBack");
        return handedBackEntry(this.#entry, this.#now, place);
      case "take-over":
        return this.#claimed(true);
      case "crash": {
        this.#count("lost", "ended");
        const given = { now: this.#now, status: 502, duration: 0, error: givenUpRun.crash };
        return endedEntry(this.#entry, { state: "failed", reason: "crash", end: given, result: null });
      }
      default:
        return event satisfies never;
    }
  }

  #afterEnd(event: "settle" | "callback-retry" | "callback-sent" | "callback-failed" | "redrive") {
    const { pending, callback } = this.#entry;
    if (event === "settle") {
      if (pending.length === 0) return undefined;
      if (pending.includes("dead-letter")) this.#count("deadLetter");
      return { ...this.#entry, pending: [] };
    }
    if (event === "redrive") return this.#redriven();
    if (callback?.state !== "pending" || pending.includes("callback")) return undefined;
    this.#count("callbackTry", ...(event === "callback-failed" ? (["deadLetter"] as const) : []));
    const times = { startedAt: this.#now - 2, now: this.#now, first: callback.first ?? this.#now, until: start + 1e9 };
    return { ...this.#entry, callback: callbackAfter(callback, verdicts[event], times) };
  }

  #redriven(): CallEntry | undefined {
    const { reason, pending, redrives, state, callback } = this.#entry;
    if (pending.length > 0) return undefined;
    if (state === "failed" && isDeadReason(reason)) {
      this.#count("redriven");
      return redrivenEntry(this.#entry, redrives + 1, this.#now);
    }
    if (callback?.state !== "failed") return undefined;
    this.#count("redriven");
    return callbackRedrivenEntry(this.#entry, redrives + 1, this.#now);
  }

  #count(...steps: readonly (keyof StepCounts)[]): void {
    for (const step of steps) this.#counts[step] += 1;
  }
}

const verdicts: Record<"callback-retry" | "callback-sent" | "callback-failed", CallbackVerdict> = {
  "callback-retry": { kind: "retry", delay: 3, status: 503, error: "answered 503" },
  "callback-sent": { kind: "sent", status: 204 },
  "callback-failed": { kind: "failed", status: 410, error: "answered 410" },
};
