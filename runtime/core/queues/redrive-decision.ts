import type { CallEntry } from "../calls/call-entry.ts";
import type { QueuedCall } from "../calls/call.ts";
import type { QueuedCallback } from "../ports/callback-queue.ts";
import type { DeadLetterContent, StoredDeadLetter } from "../ports/dead-letters.ts";

/** What to do with the record before a letter is sent again: create it, reset it, or leave it as it is. */
export type RecordStep = "create" | "reset" | "keep";

/** Decision on a redrive. `redrives` is the number of this redrive. */
export type RedriveDecision =
  /** `runs` is the number of earlier runs. */
  | {
      readonly action: "run";
      readonly call: QueuedCall;
      readonly runs: number;
      readonly redrives: number;
      readonly record: RecordStep;
    }
  | {
      readonly action: "call-back";
      readonly callback: QueuedCallback;
      readonly redrives: number;
      readonly record: RecordStep;
    }
  | { readonly action: "refuse"; readonly because: string };

type Letter = StoredDeadLetter & { readonly content: DeadLetterContent };

/**
 * Decides on the dead letters of one call by its record; the letter of the call comes before that of its callback. A
 * redrive that was interrupted after it changed the record is continued.
 */
export function decideRedrive(letters: readonly Letter[], entry: CallEntry | undefined): RedriveDecision {
  const letter = letters.find(({ kind }) => kind === "call") ?? letters[0];
  if (letter === undefined) return refuse("there is no dead letter of it");
  switch (letter.content.kind) {
    case "unreadable":
      return refuse(`${letter.content.why}; it can only be deleted`);
    case "call":
      return decideCall(letter, letter.content.call, entry);
    case "callback":
      return decideCallback(letter, letter.content.callback, entry);
    default:
      return letter.content satisfies never;
  }
}

function decideCall(letter: Letter, call: QueuedCall, entry: CallEntry | undefined): RedriveDecision {
  const run = (redrives: number, record: RecordStep): RedriveDecision => ({
    action: "run",
    call,
    runs: letter.attempts,
    redrives,
    record,
  });
  if (entry === undefined) return run(letter.redrives + 1, "create");
  switch (entry.state) {
    case "failed":
      return run(Math.max(entry.redrives, letter.redrives) + 1, "reset");
    case "queued":
      return entry.redrives > letter.redrives ? run(entry.redrives, "keep") : refuse(`it is queued; ${soon}`);
    case "running":
    case "waiting":
      return refuse(`it is ${entry.state}; see /async-function/${letter.id} for what becomes of it`);
    case "done":
    case "cancelled":
      return refuse(`it is ${entry.state}; delete the dead letter`);
    default:
      return entry.state satisfies never;
  }
}

function decideCallback(letter: Letter, callback: QueuedCallback, entry: CallEntry | undefined): RedriveDecision {
  const send = (redrives: number, record: RecordStep): RedriveDecision => ({
    action: "call-back",
    callback,
    redrives,
    record,
  });
  if (entry === undefined) return send(letter.redrives + 1, "keep");
  if (entry.ended === null) return refuse(`it is ${entry.state} and calls back at its end; delete the dead letter`);
  if (entry.callback === null) return refuse("it has no callback any more; delete the dead letter");
  switch (entry.callback.state) {
    case "failed":
      return send(Math.max(entry.redrives, letter.redrives) + 1, "reset");
    case "pending":
      return entry.redrives > letter.redrives
        ? send(entry.redrives, "keep")
        : refuse(`its callback is under way; ${soon}`);
    case "sent":
      return refuse("its callback was sent; delete the dead letter");
    default:
      return entry.callback.state satisfies never;
  }
}

const soon = "try again in a moment";

function refuse(because: string): RedriveDecision {
  return { action: "refuse", because };
}
