import type { CallRecord } from "../../api/schemas/call-record.ts";
import { cutRun, givenUpRun } from "./call-transitions.ts";
import { goneFunction, timeLimitReached } from "./judge-run.ts";

type Attempt = CallRecord["attempts"][number];
type Callback = NonNullable<CallRecord["callback"]>;

/** Errors that the platform writes itself, and that quote nothing. */
const plain: ReadonlySet<string> = new Set([
  ...Object.values(cutRun),
  ...Object.values(givenUpRun),
  goneFunction,
  timeLimitReached,
]);

/** As `decideAttempt` says it. */
const busy = /all \d+ ready replicas are at concurrency\.max of \d+/;

/**
 * A record for whoever knows the id of the call, which needs no rights: without what its errors quote of logs, addresses
 * and paths, and without the names of machines.
 */
export function publicCallView({ attempts, callback, ...fields }: CallRecord): CallRecord {
  return {
    ...fields,
    attempts: attempts.map(publicAttempt),
    ...(callback === undefined ? {} : { callback: publicCallback(callback) }),
  };
}

function publicAttempt({ worker: _worker, replica: _replica, error, ...attempt }: Attempt): Attempt {
  if (error === undefined) return attempt;
  return { ...attempt, error: plain.has(error) ? error : (busy.exec(error)?.[0] ?? runError(attempt.status)) };
}

function runError(status: number | undefined): string {
  if (status === 503) return "no replica was ready";
  return status === 502 ? "the function gave no whole reply" : "the run failed";
}

function publicCallback({ error, tries, ...callback }: Callback): Callback {
  return {
    ...callback,
    ...(error === undefined ? {} : { error: callbackError(error) }),
    ...(tries === undefined
      ? {}
      : { tries: tries.map((one) => (one.error === undefined ? one : { ...one, error: callbackError(one.error) })) }),
  };
}

function callbackError(error: string): string {
  return /^answered \d{3}$/.test(error) ? error : "the callback could not be sent";
}
