import type { CallAttempt, CallbackState, CallbackTry, CallEntry } from "../../../core/calls/call-entry.ts";
import type { CallRow } from "../../../core/history/history-row.ts";
import { ShortNames } from "./short-names.ts";

const entryNames = new ShortNames({
  state: "s",
  digest: "d",
  accepted: "t",
  run: "r",
  lost: "l",
  owner: "o",
  next: "n",
  attempts: "a",
  result: "u",
  pending: "p",
  callback: "c",
  maxRetries: "m",
  expires: "x",
});
const attemptNames = new ShortNames({
  number: "n",
  startedAt: "b",
  endedAt: "e",
  status: "s",
  duration: "d",
  error: "f",
  worker: "w",
  replica: "r",
  coldStart: "c",
  next: "x",
});
const callbackNames = new ShortNames({
  url: "u",
  state: "s",
  attempts: "a",
  status: "c",
  error: "f",
  next: "n",
  first: "b",
  until: "e",
  tries: "t",
});
const tryNames = new ShortNames({ number: "n", at: "b", status: "s", ms: "d", error: "f" });
const resultNames = new ShortNames({ run: "r", size: "s", stored: "k", ttl: "t" });

/** Digits of nanoseconds below a millisecond. */
const fraction = 6;

/** A record without what its row, or the usual call, says already; times are relative to its acceptance. */
export function compactEntry(entry: CallEntry, row: CallRow): Record<string, unknown> {
  const { accepted } = row;
  const { attempts, callback, result } = entry;
  return entryNames.shorten(
    {
      ...entry,
      accepted: entry.accepted.startsWith(String(accepted)) ? entry.accepted.slice(-fraction) : entry.accepted,
      expires: entry.expires - accepted,
      attempts: attempts.map((attempt) => compactAttempt(attempt, accepted)),
      callback: callback === null ? null : compactCallback(callback, accepted),
      result: result === null ? null : resultNames.shorten(result),
    },
    impliedEntry(row),
  );
}

/** The inverse of `compactEntry`. */
export function expandEntry(compact: object, row: CallRow): CallEntry {
  const { accepted } = row;
  const entry = entryNames.lengthen(compact, impliedEntry(row)) as unknown as CallEntry;
  const { attempts, callback, result } = entry;
  return {
    ...entry,
    accepted: entry.accepted.length === fraction ? `${accepted}${entry.accepted}` : entry.accepted,
    expires: entry.expires + accepted,
    attempts: attempts.map((attempt) => expandAttempt(attempt, accepted)),
    callback: callback === null ? null : expandCallback(callback, accepted),
    result: result === null ? null : (resultNames.lengthen(result) as unknown as CallEntry["result"]),
  };
}

/** Members that every record has. */
function impliedEntry(row: CallRow): Readonly<Record<string, unknown>> {
  return {
    v: 2,
    state: row.state,
    queue: row.queue,
    namespace: row.namespace,
    function: row.name,
    accepted: "0".repeat(fraction),
    run: 1,
    retries: row.retries,
    lost: 0,
    owner: null,
    next: null,
    attempts: [],
    ended: row.ended,
    reason: row.reason,
    status: row.status,
    result: null,
    pending: [],
    callback: null,
    maxRetries: 10,
    parent: null,
    redrives: 0,
  };
}

function compactAttempt(attempt: CallAttempt, accepted: number): object {
  const { startedAt, endedAt } = attempt;
  return attemptNames.shorten({
    ...attempt,
    startedAt: startedAt - accepted,
    ...(endedAt === undefined ? {} : { endedAt: endedAt - startedAt }),
  });
}

function expandAttempt(compact: object, accepted: number): CallAttempt {
  const attempt = attemptNames.lengthen(compact) as unknown as CallAttempt;
  const startedAt = attempt.startedAt + accepted;
  return {
    ...attempt,
    startedAt,
    ...(attempt.endedAt === undefined ? {} : { endedAt: attempt.endedAt + startedAt }),
  };
}

function compactCallback(callback: CallbackState, accepted: number): object {
  const { tries } = callback;
  return callbackNames.shorten({
    ...callback,
    ...(tries === undefined ? {} : { tries: tries.map((one) => tryNames.shorten({ ...one, at: one.at - accepted })) }),
  });
}

function expandCallback(compact: object, accepted: number): CallbackState {
  const callback = callbackNames.lengthen(compact) as unknown as CallbackState;
  const { tries } = callback;
  if (tries === undefined) return callback;
  const lengthened = tries.map((one) => tryNames.lengthen(one) as unknown as CallbackTry);
  return { ...callback, tries: lengthened.map((one) => ({ ...one, at: one.at + accepted })) };
}
