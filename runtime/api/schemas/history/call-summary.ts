import Type, { type Static } from "typebox";

import { callStates } from "../call-record.ts";
import { callId, functionName, namespaceName, queueName, time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** The states that calls have in the history; unknown: the record is gone and its end was not seen. */
export const historyStates = [...callStates, "unknown"] as const;
export const callKinds = ["async", "sync"] as const;
/** Where calls come from. */
export const callSources = ["http", "replay"] as const;

const seconds = (description: string, example: number) => Type.Number({ minimum: 0, description, examples: [example] });

/** The fields that a call has in lists and alone. */
export const summaryFields = {
  callId: callId("Id of the call"),
  kind: openEnum(callKinds, "async: it was queued; sync: it was answered at once"),
  functionName: functionName("Name of the function"),
  namespace: namespaceName("Real name of its namespace"),
  queue: Type.Optional(queueName("Queue that held it; absent for synchronous calls")),
  state: openEnum(historyStates, "unknown: its record is gone and its end was not seen"),
  reason: Type.Optional(Type.String({ description: "Why it failed", examples: ["exhausted"] })),
  source: openEnum(callSources, "Where it came from"),
  acceptedAt: time("When it was accepted"),
  endedAt: Type.Optional(time("When it reached its final state")),
  retries: Type.Integer({ minimum: 0, description: "Retries made", examples: [0] }),
};

/** A call as lists show it. */
export const CallSummary = Type.Object(
  {
    ...summaryFields,
    status: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 599,
        description: "Last status of the function, or the one that stands for a missing reply",
        examples: [200],
      }),
    ),
    waitSeconds: Type.Optional(seconds("From its acceptance to its first run", 0.02)),
    durationSeconds: Type.Optional(seconds("How long its last run took", 0.012)),
    coldStartSeconds: Type.Optional(seconds("Longest that one of its runs waited for a replica to start", 1.4)),
  },
  {
    title: "CallSummary",
    description: "A call in short",
    examples: [
      {
        callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
        kind: "async",
        functionName: "hello",
        namespace: "functions",
        queue: "default",
        state: "done",
        source: "http",
        acceptedAt: "2026-01-31T12:00:00.000Z",
        endedAt: "2026-01-31T12:00:00.040Z",
        retries: 0,
        status: 200,
        waitSeconds: 0.02,
        durationSeconds: 0.012,
      },
    ],
  },
);
export type CallSummary = Readonly<Static<typeof CallSummary>>;
