import type { CallEntry } from "../calls/call-entry.ts";
import type { CallRow, AnsweredCall } from "./history-row.ts";

/** The columns of a queued call, by its record. */
export function asyncCallRow(id: string, revision: number, entry: CallEntry): CallRow {
  const accepted = acceptedAt(entry);
  const [first] = entry.attempts;
  const coldStarts = entry.attempts.flatMap(({ coldStart }) => coldStart ?? []);
  return {
    namespace: entry.namespace,
    name: entry.function,
    id,
    kind: "async",
    revision,
    accepted,
    queue: entry.queue,
    state: entry.state,
    status: entry.status,
    reason: entry.reason,
    source: entry.source ?? "http",
    ended: entry.ended,
    // The clocks of who accepts and who claims may differ.
    wait: first === undefined ? null : Math.max(0, first.startedAt - accepted),
    duration: entry.attempts.findLast(({ duration }) => duration !== undefined)?.duration ?? null,
    coldStart: coldStarts.length === 0 ? null : Math.max(...coldStarts),
    retries: entry.retries,
  };
}

/** The columns of a call that was answered at once. */
export function syncCallRow(call: AnsweredCall): CallRow {
  return {
    namespace: call.namespace,
    name: call.name,
    id: call.id,
    kind: "sync",
    revision: 0,
    accepted: Math.round(call.startedAt),
    queue: "",
    state: call.status < 400 ? "done" : "failed",
    status: call.status,
    reason: null,
    source: "http",
    ended: Math.round(call.startedAt + call.duration),
    wait: call.coldStart ?? null,
    duration: call.duration,
    coldStart: call.coldStart ?? null,
    retries: 0,
  };
}

/** When a queued call was accepted, Unix milliseconds. */
export function acceptedAt({ accepted }: Pick<CallEntry, "accepted">): number {
  return Number(BigInt(accepted) / 1_000_000n);
}
