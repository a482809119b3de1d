import { randomBytes } from "node:crypto";

import type { CallRecord } from "../../../runtime/api/schemas/call-record.ts";
import type { CallSummary } from "../../../runtime/api/schemas/history/call-summary.ts";
import type { AnswerClass } from "../../../test/support/ledger.ts";

const classes = ["under way", "accepted", "refused", "unknown"] as const;
const classMask = 0b11;
const everUnknown = 0b100;
const over = 0b1000;
const notDone = 0b10000;
const inHistory = 0b100000;
const shownIds = 5;
/** Longest time between the start of a run and the kill of its worker that aborts it, milliseconds. */
const longestRun = 10_000;
/** Milliseconds from the decision to kill to the death. */
const killTakes = 500;

/** The outcomes of all calls of the run. */
export interface TallySum {
  readonly accepted: number;
  /** Responses, not calls: a refused call is sent again. */
  readonly refused: number;
  readonly unknown: number;
  /** Calls that got an unknown response once, and ran. */
  readonly unknownThatRan: number;
  readonly runs: number;
  readonly extraRuns: number;
  /** Calls of this run that the history lists. */
  readonly listed: number;
  /** Sentences about calls that break an invariant. */
  readonly violations: readonly string[];
}

/**
 * The tally of a run whose calls are numbered: a call's number is part of its id, so that each needs only seven bytes
 * here.
 */
export class CallTally {
  readonly #prefix: string;
  readonly #facts: Uint8Array;
  readonly #runs: Uint8Array;
  readonly #retries: Uint8Array;
  /** Milliseconds from the tally's beginning to the last start. */
  readonly #lastStart: Uint32Array;
  readonly #begin = performance.now();
  readonly #workerKills: number[] = [];
  readonly #refusedThatRan: string[] = [];
  readonly #unexplained: string[] = [];
  readonly #listedWrongly: string[] = [];
  #listed = 0;
  #accepted = 0;
  #ended = 0;
  #refused = 0;
  #unknown = 0;

  /** For calls 0 to `count` - 1. */
  constructor(count: number) {
    const random = randomBytes(8).toString("hex");
    this.#prefix = `${random.slice(0, 8)}-${random.slice(8, 12)}-4${random.slice(12, 15)}-8000-`;
    this.#facts = new Uint8Array(count);
    this.#runs = new Uint8Array(count);
    this.#retries = new Uint8Array(count);
    this.#lastStart = new Uint32Array(count);
  }

  get accepted(): number {
    return this.#accepted;
  }

  /** Accepted calls whose end was not read yet. */
  get open(): number {
    return this.#accepted - this.#ended;
  }

  /** The first `most` of the open calls. */
  openCalls(most: number): number[] {
    const found: number[] = [];
    for (let call = 0; call < this.#facts.length && found.length < most; call++) {
      if (this.#is(call, "accepted") && !this.isOver(call)) found.push(call);
    }
    return found;
  }

  idOf(call: number): string {
    return this.#prefix + call.toString(16).padStart(12, "0");
  }

  /** The number in an id of this run; undefined of any other id. */
  callOf(id: string): number | undefined {
    if (!id.startsWith(this.#prefix)) return undefined;
    const call = Number.parseInt(id.slice(this.#prefix.length), 16);
    return call < this.#facts.length ? call : undefined;
  }

  isOver(call: number): boolean {
    return this.#has(call, over);
  }

  sent(call: number): void {
    this.#setClass(call, "under way");
  }

  answered(call: number, answer: AnswerClass): void {
    this.#setClass(call, answer);
    if (answer === "refused") this.#refused++;
    if (answer === "unknown") {
      this.#unknown++;
      this.#mark(call, everUnknown);
    }
    if (answer !== "accepted") return;
    this.#accepted++;
    if (this.isOver(call)) this.#ended++;
  }

  /** The function was called. */
  started(call: number): void {
    const now = performance.now() - this.#begin;
    if (this.#is(call, "refused") && !this.#has(call, everUnknown)) this.#refusedThatRan.push(this.idOf(call));
    const runs = this.#runs[call] ?? 0;
    if (runs > 0 && !this.#abortedByKill(this.#lastStart[call] ?? 0)) this.#unexplained.push(this.idOf(call));
    this.#runs[call] = Math.min(255, runs + 1);
    this.#lastStart[call] = now;
  }

  /** The status route reported the call's end. */
  ended(call: number, { state, retries }: Pick<CallRecord, "state" | "retries">): void {
    if (this.isOver(call)) return;
    this.#mark(call, over);
    if (state !== "done") this.#mark(call, notDone);
    this.#retries[call] = Math.min(255, retries);
    if (this.#is(call, "accepted")) this.#ended++;
  }

  /** The history lists a call, which it does once. */
  listed({ callId, state, retries }: Pick<CallSummary, "callId" | "state" | "retries">): void {
    const call = this.callOf(callId);
    const isRight =
      call !== undefined &&
      !this.#has(call, inHistory) &&
      (state === "done") !== this.#has(call, notDone) &&
      Math.min(255, retries) === this.#retries[call];
    if (!isRight) this.#listedWrongly.push(callId);
    if (call === undefined) return;
    this.#mark(call, inHistory);
    this.#listed++;
  }

  /** A worker is about to be killed: its runs may be repeated. */
  workerKilled(): void {
    this.#workerKills.push(performance.now() - this.#begin);
  }

  /** Sums up the tally; `extraRuns` is the permitted number. */
  sum(allowed: { readonly extraRuns: number }): TallySum {
    let [runs, extraRuns, unknownThatRan] = [0, 0, 0];
    const [lost, failed, unlisted, onlyListed]: [string[], string[], string[], string[]] = [[], [], [], []];
    for (let call = 0; call < this.#facts.length; call++) {
      const times = this.#runs[call] ?? 0;
      runs += times;
      extraRuns += Math.max(0, times - 1 - (this.#retries[call] ?? 0));
      if (times > 0 && this.#has(call, everUnknown)) unknownThatRan++;
      if (this.#is(call, "accepted") && !this.isOver(call)) lost.push(this.idOf(call));
      if (this.#has(call, notDone)) failed.push(this.idOf(call));
      const isListed = this.#has(call, inHistory);
      if (this.#is(call, "accepted") && !isListed) unlisted.push(this.idOf(call));
      if (isListed && times === 0 && !this.#is(call, "accepted") && !this.#has(call, everUnknown))
        onlyListed.push(this.idOf(call));
    }
    const violations = [
      sentence("I1, I10", "accepted calls whose end the status route does not name", lost),
      sentence("I1", "calls of a function that never fails that ended otherwise than done", failed),
      sentence("I3", "runs of calls that ran before, and not in a worker that was killed", this.#unexplained),
      extraRuns > allowed.extraRuns ? `I3: ${extraRuns} extra runs, at most ${allowed.extraRuns} allowed` : undefined,
      sentence("I5", "refused calls that ran", this.#refusedThatRan),
      sentence("history", "accepted calls that it does not list", unlisted),
      sentence("history", "calls that it lists and that were not accepted", onlyListed),
      sentence("history", "calls that it lists otherwise than they ended", this.#listedWrongly),
    ].filter((violation) => violation !== undefined);
    const [accepted, refused, unknown] = [this.#accepted, this.#refused, this.#unknown];
    return { accepted, refused, unknown, unknownThatRan, runs, extraRuns, listed: this.#listed, violations };
  }

  #abortedByKill(start: number): boolean {
    return this.#workerKills.some((at) => start <= at + killTakes && at - start < longestRun);
  }

  #is(call: number, name: (typeof classes)[number]): boolean {
    return classes[(this.#facts[call] ?? 0) & classMask] === name;
  }

  #setClass(call: number, name: (typeof classes)[number]): void {
    this.#facts[call] = ((this.#facts[call] ?? 0) & ~classMask) | classes.indexOf(name);
  }

  #has(call: number, bit: number): boolean {
    return ((this.#facts[call] ?? 0) & bit) !== 0;
  }

  #mark(call: number, bit: number): void {
    this.#facts[call] = (this.#facts[call] ?? 0) | bit;
  }
}

function sentence(invariant: string, what: string, ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  return `${invariant}: ${ids.length} ${what}: ${ids.slice(0, shownIds).join(", ")}${ids.length > shownIds ? ", …" : ""}`;
}
