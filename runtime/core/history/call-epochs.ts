import type { CallAttempt, CallEntry } from "../calls/call-entry.ts";
import type { CallDetails } from "./history-row.ts";

/** What a queued call went through from its acceptance, or a redrive, to the next redrive. */
export interface CallEpoch {
  /** When the redrive at its begin was made, Unix milliseconds; undefined = it begins with the acceptance. */
  readonly redriven?: number;
  /** Only the callback was redriven: runs and end belong to an earlier epoch. */
  readonly callbackOnly: boolean;
  readonly attempts: readonly CallAttempt[];
  /** The record at its end, or as it is now; undefined if it was never seen. */
  readonly entry?: CallEntry;
}

/** The epochs of a queued call, oldest first; those that nothing shows are left out. */
export function callEpochs({ entry, earlier = [] }: CallDetails): readonly CallEpoch[] {
  if (entry === undefined) return [];
  const entries = [...earlier.map((one) => one.entry), entry];
  return entries.flatMap((own, index) => {
    const before = entries[index - 1];
    const after = own === entry ? Number.POSITIVE_INFINITY : own.run;
    const attempts = entry.attempts.filter(({ number }) => number > (before?.run ?? 0) && number <= after);
    return before === undefined ? firstEpochs(own, attempts) : [laterEpoch(own, before, attempts)];
  });
}

function laterEpoch(own: CallEntry, before: CallEntry, attempts: readonly CallAttempt[]): CallEpoch {
  // A call that is redriven loses its end.
  const callbackOnly = own.ended !== null && own.ended === before.ended;
  const begun = (callbackOnly ? own.callback?.first : attempts[0]?.startedAt) ?? before.ended ?? own.expires;
  return { redriven: own.redriven ?? begun, callbackOnly, attempts, entry: own };
}

/** The epoch of the oldest record that is known, and what it shows of those before. */
function firstEpochs(own: CallEntry, attempts: readonly CallAttempt[]): readonly CallEpoch[] {
  const { redriven, ended } = own;
  // It was not redriven, or by an earlier release.
  if (redriven === undefined) return [{ callbackOnly: false, attempts, entry: own }];
  if (ended !== null && ended <= redriven) {
    const called = { callbackOnly: false, attempts, entry: { ...own, callback: null } };
    return [called, { redriven, callbackOnly: true, attempts: [], entry: own }];
  }
  const [earlier, later] = [
    attempts.filter(({ startedAt }) => startedAt < redriven),
    attempts.filter(({ startedAt }) => startedAt >= redriven),
  ];
  return [
    { callbackOnly: false, attempts: earlier },
    { redriven, callbackOnly: false, attempts: later, entry: own },
  ];
}
