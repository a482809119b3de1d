import type { CallRecord } from "../../api/schemas/call-record.ts";
import type { CallbackState, CallbackTry, CallEntry } from "./call-entry.ts";

/** The record as clients see it at `now`, Unix milliseconds (contract §2); `queuePosition` only if it is known. */
export function callView(id: string, entry: CallEntry, now: number, queuePosition?: number): CallRecord {
  const acceptedAt = Number(BigInt(entry.accepted) / 1_000_000n);
  return {
    callId: id,
    functionName: entry.function,
    namespace: entry.namespace,
    queue: entry.queue,
    state: entry.state,
    ...(entry.reason === null ? {} : { reason: entry.reason }),
    ...(entry.principal === undefined ? {} : { principal: entry.principal }),
    acceptedAt: time(acceptedAt),
    startTime: entry.accepted,
    ...(entry.ended === null ? {} : { endedAt: time(entry.ended) }),
    retries: entry.retries,
    maxRetries: entry.maxRetries,
    ...(entry.next === null ? {} : { nextAttemptAt: time(entry.next) }),
    ...(queuePosition === undefined ? {} : { queuePosition }),
    attempts: entry.attempts.map((attempt) => ({
      number: attempt.number,
      startedAt: time(attempt.startedAt),
      ...(attempt.endedAt === undefined ? {} : { endedAt: time(attempt.endedAt) }),
      ...(attempt.status === undefined ? {} : { status: attempt.status }),
      ...(attempt.duration === undefined ? {} : { durationSeconds: Math.round(attempt.duration * 1_000) / 1_000_000 }),
      ...(attempt.error === undefined ? {} : { error: attempt.error }),
      ...(attempt.worker === undefined ? {} : { worker: attempt.worker }),
      ...(attempt.replica === undefined ? {} : { replica: attempt.replica }),
      ...(attempt.coldStart === undefined ? {} : { coldStartSeconds: attempt.coldStart / 1_000 }),
    })),
    ...(entry.callback === null ? {} : { callback: callbackView(entry.callback, now) }),
    ...(entry.result === null || entry.status === null || entry.ended === null
      ? {}
      : {
          result: {
            href: `/async-function/${id}/result`,
            status: entry.status,
            size: entry.result.size,
            stored: entry.result.stored,
            expiresAt: time(Math.min(entry.ended + entry.result.ttl, entry.expires)),
          },
        }),
    ...(entry.replayOf === undefined ? {} : { replayOf: entry.replayOf }),
  };
}

function callbackView(callback: CallbackState, now: number): NonNullable<CallRecord["callback"]> {
  const { url, attempts, status, error, next, tries } = callback;
  const state = callbackState(callback, now);
  return {
    url: url.split(/[?#]/, 1)[0] ?? "",
    state,
    attempts,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(next === undefined || state !== "pending" ? {} : { nextAttemptAt: time(next) }),
    ...(tries === undefined ? {} : { tries: tries.map(tryView) }),
  };
}

function tryView({ number, at, status, ms, error }: CallbackTry) {
  return {
    number,
    at: time(at),
    ...(status === undefined ? {} : { status }),
    durationSeconds: ms / 1_000,
    ...(error === undefined ? {} : { error }),
  };
}

/** A callback still pending after `until` was sent or given up, but which of the two could not be recorded. */
function callbackState({ state, until }: CallbackState, now: number): CallbackState["state"] | "unknown" {
  return state === "pending" && until !== undefined && now > until ? "unknown" : state;
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
