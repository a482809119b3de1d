import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { durationWords } from "../../../data/time/duration-words.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";

/** What a call does now, or how it ended, in one sentence; `now` is Unix milliseconds. */
export function callSentence(call: CallDetail, now: number): string {
  const { state, attempts, kind } = call;
  const last = attempts.at(-1);
  // Of very many, some are left out.
  const runs = last?.number ?? 0;
  switch (state) {
    case "queued":
      return call.queuePosition === undefined
        ? "It waits for a free slot"
        : call.queuePosition === 1
          ? "It is the next of its queue"
          : `${countOf(call.queuePosition - 1, "call")} of its queue ${call.queuePosition === 2 ? "is" : "are"} before it`;
    case "running":
      return last === undefined
        ? "It runs"
        : `Run ${countWords(last.number)} goes on for ${durationWords(Math.max(0, now - Date.parse(last.startedAt)))}`;
    case "waiting":
      return `${reasonOf(call)}. Retry ${countWords(call.retries)} of ${countWords(call.maxRetries)} comes ${dueWords(call.nextAttemptAt, now)}`;
    case "done":
      return `${kind === "sync" ? "Answered" : "Done"}${statusWords(call)} after ${countOf(Math.max(runs, 1), "run")}`;
    case "failed":
      return `${reasonOf(call)}, after ${countOf(runs, "run")}`;
    case "cancelled":
      return runs === 0 ? "It was cancelled before it ran" : `It was cancelled in run ${countWords(runs)}`;
    case "unknown":
      return "Its record is gone, and its end was not seen";
    default:
      state satisfies never;
      return "";
  }
}

function statusWords({ result, attempts }: CallDetail): string {
  const status = result?.status ?? attempts.at(-1)?.status;
  return status === undefined ? "" : ` with status ${status}`;
}

const reasons: Readonly<Record<string, string>> = {
  exhausted: "No retry was left",
  crash: "Its queue-workers were lost again and again",
  expired: "Its time was over before it could run",
  undecodable: "It cannot be read",
  not_stored: "Its queue does not hold it: its acceptance was cut off, or a crash of the broker's machine took it",
};

function reasonOf({ reason, attempts }: CallDetail): string {
  const last = attempts.at(-1);
  const cause = last?.error ?? (last?.status === undefined ? undefined : `status ${last.status}`);
  const known = reason === undefined ? undefined : (reasons[reason] ?? `Reason: ${reason}`);
  if (known === undefined) return cause === undefined ? "It failed" : `The last run ended with ${cause}`;
  return cause === undefined ? known : `${known}; the last run ended with ${cause}`;
}

function dueWords(at: string | undefined, now: number): string {
  if (at === undefined) return "later";
  const left = Date.parse(at) - now;
  return left <= 0 ? "now" : `in ${durationWords(Math.ceil(left / 1_000) * 1_000)}`;
}
