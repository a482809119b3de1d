import type { CallState } from "../../runtime/api/schemas/call-record.ts";
import type { Account, Run, Sent } from "./ledger.ts";

/** How one call ended. */
export interface SettledCall {
  readonly state: CallState;
  readonly retries: number;
}

/** Input of the invariants, after all calls have settled. */
export interface Facts extends Account {
  /** What the status route returned for each id that was sent; absent = 404. */
  readonly statuses: ReadonlyMap<string, SettledCall>;
  /** The records in the store, if the test read them; else the status route is trusted. */
  readonly records?: ReadonlyMap<string, SettledCall>;
}

/** What this test's faults allow. Without faults everything is zero. */
export interface Allowance {
  readonly extraRuns?: number;
  readonly extraCallbacks?: number;
  /** False if receivers of callbacks stayed down. */
  readonly callbacksDue?: boolean;
  /** One slot and no failures: calls must start in the order in which they were accepted. */
  readonly inOrder?: boolean;
}

export interface Violation {
  readonly invariant: "I1" | "I2" | "I3" | "I4" | "I5" | "I7" | "I10";
  readonly sentence: string;
}

/** What the invariants only count. */
export interface Counts {
  readonly accepted: number;
  readonly refused: number;
  readonly unknown: number;
  readonly extraRuns: number;
  readonly extraCallbacks: number;
  /** I6. */
  readonly unknownThatRan: number;
}

const finalStates: ReadonlySet<CallState> = new Set(["done", "failed", "cancelled"]);
const shownIds = 5;

/** Checks the invariants I1 to I7 and I10 for one test. */
export function checkInvariants(facts: Facts, allowance: Allowance = {}): { counts: Counts; violations: Violation[] } {
  const runs = Map.groupBy(facts.runs, (run) => run.id);
  const accepted = facts.sent.filter((sent) => sent.class === "accepted");
  const refused = facts.sent.filter((sent) => sent.class === "refused");
  const unknown = facts.sent.filter((sent) => sent.class === "unknown");

  const violations: Violation[] = [];
  const report = (invariant: Violation["invariant"], what: string, found: readonly string[], limit = 0): void => {
    if (found.length <= limit) return;
    const most = limit === 0 ? "" : `, at most ${limit} allowed`;
    const more = found.length > shownIds ? ", …" : "";
    const shown = found.slice(0, shownIds).join(", ");
    violations.push({ invariant, sentence: `${invariant}: ${found.length} ${what}${most}: ${shown}${more}` });
  };

  const lost = accepted.filter(({ id }) => !isFinal((facts.records ?? facts.statuses).get(id)));
  report(
    "I1",
    "accepted calls without an end",
    lost.map(({ id }) => described(id, facts)),
  );

  if (allowance.callbacksDue !== false) {
    report("I2", "callbacks that never arrived", missingCallbacks(facts, accepted));
  }
  const extraRuns = [...accepted, ...unknown].flatMap(({ id }) => extraRunsOf(id, runs.get(id) ?? [], facts));
  report("I3", "extra runs", extraRuns, allowance.extraRuns);

  const extraCallbacks = extraCallbacksOf(facts);
  report("I4", "extra callbacks", extraCallbacks, allowance.extraCallbacks);

  // One that was sent again, and accepted then, may run.
  const mayRun = new Set([...accepted, ...unknown].map(({ id }) => id));
  report(
    "I5",
    "refused calls that ran",
    refused.filter(({ id }) => !mayRun.has(id) && runs.has(id)).map(({ id }) => id),
  );

  if (allowance.inOrder === true) report("I7", "calls that started out of order", inversions(accepted, runs, facts));

  report("I10", "accepted calls on whose end record and status route disagree", disagreements(facts, accepted));

  const unknownThatRan = unknown.filter(({ id }) => runs.has(id)).length;
  return {
    violations,
    counts: {
      accepted: accepted.length,
      refused: refused.length,
      unknown: unknown.length,
      extraRuns: extraRuns.length,
      extraCallbacks: extraCallbacks.length,
      unknownThatRan,
    },
  };
}

function isFinal(call: SettledCall | undefined): boolean {
  return call !== undefined && finalStates.has(call.state);
}

function described(id: string, facts: Facts): string {
  return `${id} (${(facts.records ?? facts.statuses).get(id)?.state ?? "no record"})`;
}

function missingCallbacks(facts: Facts, accepted: readonly Sent[]): string[] {
  const arrived = new Set(facts.callbacks.filter((callback) => isSuccess(callback.answered)).map(({ id }) => id));
  return accepted
    .filter(({ id, callback }) => {
      const state = facts.statuses.get(id)?.state;
      return callback && (state === "done" || state === "failed") && !arrived.has(id);
    })
    .map(({ id }) => id);
}

/** A call that was retried n times may run n + 1 times. */
function extraRunsOf(id: string, runs: readonly Run[], facts: Facts): string[] {
  const expected = 1 + (facts.statuses.get(id)?.retries ?? 0);
  return Array.from({ length: Math.max(0, runs.length - expected) }, () => id);
}

/** Callbacks after one that the receiver accepted with 2xx, and all callbacks of a cancelled call. */
function extraCallbacksOf(facts: Facts): string[] {
  const satisfied = new Set<string>();
  const extra: string[] = [];
  for (const { id, answered } of facts.callbacks) {
    if (satisfied.has(id) || facts.statuses.get(id)?.state === "cancelled") extra.push(id);
    else if (isSuccess(answered)) satisfied.add(id);
  }
  return extra;
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/**
 * Only a call that was sent after another's 202 is certainly behind it. Calls that were retried lose their place and do
 * not count.
 */
function inversions(accepted: readonly Sent[], runs: ReadonlyMap<string, readonly Run[]>, facts: Facts): string[] {
  const started = accepted
    .flatMap((sent) => {
      const first = runs.get(sent.id)?.[0];
      return first === undefined || facts.statuses.get(sent.id)?.retries !== 0 ? [] : [{ sent, at: first.at }];
    })
    .toSorted((a, b) => b.at - a.at);
  const found: string[] = [];
  let overtaken = Number.POSITIVE_INFINITY;
  for (const { sent } of started) {
    if (overtaken < sent.sentAt) found.push(sent.id);
    overtaken = Math.min(overtaken, sent.answeredAt);
  }
  return found;
}

function disagreements(facts: Facts, accepted: readonly Sent[]): string[] {
  return accepted.flatMap(({ id }) => {
    const status = facts.statuses.get(id);
    const record = facts.records === undefined ? status : facts.records.get(id);
    if (isFinal(status) && isFinal(record) && status?.state === record?.state) return [];
    return [`${id} (record ${record?.state ?? "absent"}, status route ${status?.state ?? "absent"})`];
  });
}
