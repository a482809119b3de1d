import Type, { type Static } from "typebox";

import { time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** What can happen to a call, in the order in which it does. */
export const timelineKinds = [
  "accepted",
  "taken",
  "started",
  "answered",
  "retry",
  "lost",
  "handedBack",
  "cancelled",
  "ended",
  "deadLetter",
  "redriven",
  "callbackTry",
  "callbackEnded",
  "expired",
] as const;

/** One thing that happened to a call. */
export const TimelineStep = Type.Object(
  {
    at: time("When it happened, by the clock of the broker"),
    kind: openEnum(
      timelineKinds,
      "taken: a queue-worker claimed it; started: it was sent to a replica; retry: the run failed and is repeated; " +
        "lost: the queue-worker of the run was lost; handedBack: the queue-worker stopped; " +
        "expired: its time was over, or its record expired before its end was seen",
    ),
    attempt: Type.Optional(
      Type.Integer({ minimum: 1, description: "Number of the run, or of the callback's attempt", examples: [1] }),
    ),
    worker: Type.Optional(
      Type.String({ description: "Host name and process id of the queue-worker", examples: ["node-1:4711"] }),
    ),
    replica: Type.Optional(Type.String({ description: "The replica of the function", examples: ["hello-1-0"] })),
    status: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 599,
        description: "Status of the reply, or the one that stands for a missing one",
        examples: [200],
      }),
    ),
    ms: Type.Optional(Type.Number({ minimum: 0, description: "How long it took, milliseconds", examples: [12] })),
    reason: Type.Optional(
      Type.String({ description: "Why it happened", examples: ["answered 503", "exhausted", "connect ECONNREFUSED"] }),
    ),
    next: Type.Optional(time("When the next attempt is due")),
  },
  {
    title: "TimelineStep",
    description: "One thing that happened to a call",
    examples: [{ at: "2026-01-31T12:00:00.020Z", kind: "taken", attempt: 1, worker: "node-1:4711" }],
  },
);
export type TimelineStep = Readonly<Static<typeof TimelineStep>>;
