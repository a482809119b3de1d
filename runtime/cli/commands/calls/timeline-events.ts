import type { TimelineStep } from "../../../api/schemas/history/timeline-step.ts";
import { localTime } from "../../output/age-text.ts";
import type { CallEvent } from "./call-events.ts";

/** Kinds of steps whose own name is not the one to show; others are shown under their own, also unknown ones. */
const shownKinds: Readonly<Record<string, string>> = {
  retry: "to be repeated",
  handedBack: "handed back",
  deadLetter: "dead letter",
  callbackTry: "callback",
  callbackEnded: "callback ended",
} satisfies Partial<Record<TimelineStep["kind"], string>>;

/** The steps of a call's timeline as they are shown. */
export function timelineEvents(timeline: readonly TimelineStep[]): readonly CallEvent[] {
  return timeline.map((step) => ({ at: step.at, event: eventOf(step), detail: detailOf(step) }));
}

function eventOf({ kind, attempt }: TimelineStep): string {
  const shown = Object.hasOwn(shownKinds, kind) ? (shownKinds[kind] ?? kind) : kind;
  if (attempt === undefined) return shown;
  return kind === "callbackTry" ? `${shown} ${attempt}` : `run ${attempt} ${shown}`;
}

function detailOf({ worker, replica, status, ms, reason, next }: TimelineStep): string {
  const outcome = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(ms === undefined ? [] : [`after ${(ms / 1_000).toFixed(3)}s`]),
  ].join(" ");
  const parts = [
    ...(worker === undefined ? [] : [`by ${worker}`]),
    ...(replica === undefined ? [] : [`replica ${replica}`]),
    outcome,
    reason ?? "",
    ...(next === undefined ? [] : [`next at ${localTime(next)}`]),
  ];
  return parts.filter((part) => part !== "").join(", ");
}
