import { annotation, keyPrefixes } from "../../api/names.ts";
import type { CallActions } from "../../api/schemas/history/call-detail.ts";
import type { CallEntry } from "../calls/call-entry.ts";
import { isDeadReason } from "../calls/call-transitions.ts";
import { formatRef } from "../functions/function-ref.ts";
import type { HistoryCall } from "./history-row.ts";

/** How long dead letters are kept, milliseconds. */
export const deadLetterAge = 14 * 24 * 3_600_000;

/** Name of the annotation that keeps requests, in error sentences. */
export const bodiesAnnotation = `${keyPrefixes[0]}${annotation.historyBodies}`;

/** What the record does not tell. */
export interface ActionFacts {
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the request can be read: from a dead letter, or as it was kept on request. Undefined: it is not known. */
  readonly requestKept: boolean | undefined;
}

/** What can be done with a call: true, or the sentence why not. */
export function callActions(call: HistoryCall, { now, requestKept }: ActionFacts): CallActions {
  const { id } = call.row;
  const cannot = (what: string, why: string | undefined): true | string =>
    why === undefined ? true : `Cannot ${what} call "${id}": ${why}`;
  return {
    cancel: cannot("cancel", whyNotCancelled(call)),
    redrive: cannot("redrive", whyNotRedriven(call, now)),
    replay: cannot("replay", whyNotReplayed(call, requestKept)),
  };
}

const synchronous = "it was answered at once";

function whyNotCancelled({ row: { state, kind } }: HistoryCall): string | undefined {
  if (kind === "sync") return synchronous;
  switch (state) {
    case "queued":
    case "running":
    case "waiting":
      return undefined;
    case "done":
    case "failed":
    case "cancelled":
      return `it is ${state}`;
    case "unknown":
      return recordGone;
    default:
      return state satisfies never;
  }
}

const recordGone = "its record is gone";

function whyNotRedriven({ row: { state, kind }, details: { entry } }: HistoryCall, now: number): string | undefined {
  if (kind === "sync" || entry === undefined) return synchronous;
  if (state === "unknown") return recordGone;
  const { reason, ended, callback } = entry;
  if (ended === null) return `it is ${state}`;
  if (reason === "undecodable") return "it cannot be read; its dead letter can only be deleted";
  const hasLetter = isDeadReason(reason);
  if (!hasLetter && callback?.state !== "failed") return `it is ${state} and has no dead letter`;
  const since = hasLetter ? ended : lastTry(callback, ended);
  return now - since > deadLetterAge ? "its dead letter was removed after 14 days" : undefined;
}

function lastTry(callback: CallEntry["callback"], ended: number): number {
  return callback?.tries?.at(-1)?.at ?? ended;
}

function whyNotReplayed({ row }: HistoryCall, requestKept: ActionFacts["requestKept"]): string | undefined {
  const { state, kind, ended } = row;
  if (kind === "sync") return "it was answered at once, and requests of such calls are not kept";
  if (ended === null && state !== "unknown") return `it is ${state}`;
  if (requestKept === undefined) return "the broker does not say whether its request was kept";
  if (requestKept) return undefined;
  return `its request was not kept; set annotation ${bodiesAnnotation} on function "${formatRef(row)}", or send the call again`;
}
