import type { TimelineStep } from "../../api/schemas/history/timeline-step.ts";

/** What is known of a step; undefined = not known. `next` is Unix milliseconds. */
export interface StepFacts {
  readonly attempt?: number | undefined;
  readonly worker?: string | undefined;
  readonly replica?: string | undefined;
  readonly status?: number | undefined;
  /** Milliseconds. */
  readonly ms?: number | undefined;
  readonly reason?: string | undefined;
  readonly next?: number | undefined;
}

/** A step of a timeline as clients see it; `at` is Unix milliseconds. */
export function timelineStep(kind: TimelineStep["kind"], at: number, facts: StepFacts = {}): TimelineStep {
  const { attempt, worker, replica, status, ms, reason, next } = facts;
  return {
    at: new Date(at).toISOString(),
    kind,
    ...(attempt === undefined ? {} : { attempt }),
    ...(worker === undefined ? {} : { worker }),
    ...(replica === undefined ? {} : { replica }),
    ...(status === undefined ? {} : { status }),
    ...(ms === undefined ? {} : { ms }),
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
  };
}
