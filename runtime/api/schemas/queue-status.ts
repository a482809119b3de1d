import Type, { type Static } from "typebox";

import { callId, functionName, namespaceName, queueName, time } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";

const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] });
const duration = (description: string, example: string) => Type.String({ description, examples: [example] });

/** A queue as `/system/queues` shows it (contract §2). */
export const QueueStatus = Type.Object(
  {
    name: queueName("Name of the queue"),
    queued: count("Calls that wait for their first run", 3),
    waiting: count("Calls that wait for a retry"),
    running: count("Running calls, as reported by the queue-workers within the last second", 1),
    deadLetters: count("Calls that were given up and are kept"),
    workers: count("Queue-workers that serve it", 1),
    maxInflight: Type.Integer({ minimum: 1, description: "Calls that one worker runs at once", examples: [1] }),
    timeout: duration("Longest one run may take", "30s"),
    ackWait: duration(
      "Lease of a claimed call; when its worker is silent for this long, another one takes over",
      "60s",
    ),
    oldestAgeSeconds: Type.Number({ minimum: 0, description: "Age of the oldest call in it", examples: [0.4] }),
    limit: count("Most calls that it holds", 1_000_000),
    why: Type.Optional(
      Type.String({
        description: "Why calls wait and what to do about it; absent when none waits",
        examples: ["The only slot runs a call: start Weir with --max-inflight 2 (now 1) if this takes too long."],
      }),
    ),
  },
  {
    title: "QueueStatus",
    description: "A queue and the calls in it by their state",
    examples: [
      {
        name: "default",
        queued: 3,
        waiting: 0,
        running: 1,
        deadLetters: 0,
        workers: 1,
        maxInflight: 1,
        timeout: "30s",
        ackWait: "60s",
        oldestAgeSeconds: 0.4,
        limit: 1_000_000,
        why: "The only slot runs a call: start Weir with --max-inflight 2 (now 1) if this takes too long.",
      },
    ],
  },
);
export type QueueStatus = Readonly<Static<typeof QueueStatus>>;

const given = {
  callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
  functionName: "hello",
  namespace: "functions",
  reason: "exhausted",
  attempts: 11,
  lastStatus: 503,
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadAt: "2026-01-31T12:20:00.000Z",
  size: 5,
  advice:
    'No retry was left, the last one ended with status 503: fix function "hello", then redrive the call, or delete it.',
};

/** A call that was given up (contract §2). */
export const DeadLetterView = Type.Object(
  {
    callId: callId("Id of the call"),
    functionName: Type.Optional(functionName("Name of the function; absent if it could not be read")),
    namespace: Type.Optional(namespaceName("Real name of its namespace")),
    reason: openEnum(
      ["exhausted", "crash", "expired", "undecodable", "callback"],
      "Why it was given up; callback: only its callback failed",
    ),
    attempts: count("Runs of the call; for a callback, how often it was sent", 11),
    lastStatus: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 599,
        description: "Last status of the function; for a callback, of its receiver",
        examples: [503],
      }),
    ),
    acceptedAt: time("When the call was accepted"),
    deadAt: time("When it was given up"),
    size: count("Bytes of its body", 5),
    advice: Type.String({ description: "What to do about it", examples: [given.advice] }),
  },
  {
    title: "DeadLetter",
    description: "A call that was given up and is kept for 14 days",
    examples: [given],
  },
);
export type DeadLetterView = Readonly<Static<typeof DeadLetterView>>;

/** One page of dead letters. */
export const DeadLetterPage = Type.Object(
  {
    items: Type.Array(DeadLetterView, { description: "Oldest first" }),
    next: Type.Optional(Type.String({ description: "Send it as `after` for the next page; absent on the last one" })),
  },
  { title: "DeadLetterPage", description: "One page of dead letters", examples: [{ items: [given] }] },
);
export type DeadLetterPage = Readonly<Static<typeof DeadLetterPage>>;
