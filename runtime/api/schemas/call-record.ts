import Type, { type Static } from "typebox";

import { callId, functionName, namespaceName, queueName, time } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";

/** The states of an asynchronous call (contract §4.4). */
export const callStates = ["queued", "running", "waiting", "done", "failed", "cancelled"] as const;
export type CallState = (typeof callStates)[number];

const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] });
const status = (description: string) => Type.Integer({ minimum: 100, maximum: 599, description, examples: [200] });

const result = {
  href: "/async-function/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10/result",
  status: 200,
  size: 5,
  stored: true,
  expiresAt: "2026-01-31T13:00:00.040Z",
};

/** One run of a call. */
export const CallRecordAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Counted from 1", examples: [1] }),
    startedAt: time("When the run began"),
    endedAt: Type.Optional(time("When it ended")),
    status: Type.Optional(status("Status of the function's reply")),
    durationSeconds: Type.Optional(Type.Number({ minimum: 0, description: "How long it took", examples: [0.012] })),
    error: Type.Optional(Type.String({ description: "Why there was no reply" })),
    worker: Type.Optional(
      Type.String({ description: "Host name and process id of its queue-worker", examples: ["node-1:4711"] }),
    ),
    replica: Type.Optional(
      Type.String({
        description: "The replica that it was sent to, as its log names it; else its address",
        examples: ["hello-1-0"],
      }),
    ),
    coldStartSeconds: Type.Optional(
      Type.Number({ minimum: 0, description: "How long it waited for a replica to start", examples: [1.4] }),
    ),
  },
  {
    title: "CallAttempt",
    description: "One run of the call",
    examples: [{ number: 1, startedAt: "2026-01-31T12:00:00.020Z", error: 'Cannot reach function "hello"' }],
  },
);

/** One attempt to send a callback. */
export const CallRecordCallbackTry = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: "Counted from 1", examples: [1] }),
    at: time("When it began"),
    status: Type.Optional(status("Status of the receiver's reply")),
    durationSeconds: Type.Number({ minimum: 0, description: "How long it took", examples: [0.03] }),
    error: Type.Optional(Type.String({ description: "Why it failed", examples: ["answered 503"] })),
  },
  {
    title: "CallbackTry",
    description: "One attempt to send the callback",
    examples: [
      { number: 1, at: "2026-01-31T12:00:00.050Z", status: 503, durationSeconds: 0.03, error: "answered 503" },
    ],
  },
);

/** State of a call's callback. */
export const CallRecordCallback = Type.Object(
  {
    url: Type.String({
      description: "Where the callback goes, without its query",
      examples: ["https://example.com/done"],
    }),
    state: openEnum(
      ["pending", "sent", "failed", "unknown"],
      "State of the callback; unknown: the time for its attempts is over, and no outcome was recorded",
    ),
    attempts: count("Attempts so far", 1),
    status: Type.Optional(status("Status of the receiver's last reply")),
    error: Type.Optional(
      Type.String({ description: "Why the last attempt failed", examples: ["answered 503", "connect ECONNREFUSED"] }),
    ),
    nextAttemptAt: Type.Optional(time("When the next attempt is due")),
    tries: Type.Optional(Type.Array(CallRecordCallbackTry, { description: "The last attempts, oldest first" })),
  },
  {
    title: "CallbackState",
    description: "The callback, if one was asked for",
    examples: [{ url: "https://example.com/done", state: "sent", attempts: 1, status: 200 }],
  },
);

/** The result of a call. */
export const CallResult = Type.Object(
  {
    href: Type.String({
      format: "uri-reference",
      description: "Path of the output",
      examples: ["/async-function/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10/result"],
    }),
    status: status("Status of the function's reply"),
    size: count("Bytes of the output", 5),
    stored: Type.Boolean({
      description: "Whether the output can be read; over 1 MiB it is not kept",
      examples: [true],
    }),
    expiresAt: time("When the output expires"),
  },
  {
    title: "CallResult",
    description: "The output, once there is one",
    examples: [result],
  },
);

/** Who sent a call. */
export const CallRecordPrincipal = Type.Object(
  {
    subject: Type.String({
      description: "fed: and the subject at its issuer, or admin; at most 256 bytes are kept",
      examples: ["fed:alice"],
    }),
    issuer: Type.Optional(
      Type.String({ description: "The issuer that knows the subject", examples: ["https://issuer.example"] }),
    ),
  },
  {
    title: "CallPrincipal",
    description: "Who sent the call, if its function asks for callers",
    examples: [{ subject: "fed:alice", issuer: "https://issuer.example" }],
  },
);

/** State and history of an asynchronous call (contract §2). Times are RFC 3339 unless said otherwise. */
export const CallRecord = Type.Object(
  {
    callId: callId("Id of the call"),
    functionName: functionName("Name of the function"),
    namespace: namespaceName("Real name of its namespace"),
    queue: queueName("Queue that holds the call"),
    state: openEnum(callStates, "done, failed and cancelled are final, except for a failed call that is redriven"),
    reason: Type.Optional(Type.String({ description: "Why it failed or was requeued", examples: ["exhausted"] })),
    principal: Type.Optional(CallRecordPrincipal),
    acceptedAt: time("When the call was accepted"),
    startTime: Type.String({
      pattern: "^[0-9]+$",
      description: "The same in Unix nanoseconds, as in X-Start-Time",
      examples: ["1769860800000000000"],
    }),
    endedAt: Type.Optional(time("When it reached its final state")),
    retries: count("Retries made"),
    maxRetries: count("Most retries allowed", 10),
    nextAttemptAt: Type.Optional(time("When a waiting call is retried")),
    queuePosition: Type.Optional(Type.Integer({ minimum: 1, description: "1 = next, an estimate", examples: [1] })),
    attempts: Type.Array(CallRecordAttempt, { description: "Its runs so far" }),
    callback: Type.Optional(CallRecordCallback),
    result: Type.Optional(CallResult),
    replayOf: Type.Optional(callId("The call that it replays")),
  },
  {
    title: "CallRecord",
    description: "State and history of an asynchronous call",
    examples: [
      {
        callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
        functionName: "hello",
        namespace: "functions",
        queue: "default",
        state: "done",
        acceptedAt: "2026-01-31T12:00:00.000Z",
        startTime: "1769860800000000000",
        endedAt: "2026-01-31T12:00:00.040Z",
        retries: 0,
        maxRetries: 10,
        attempts: [
          {
            number: 1,
            startedAt: "2026-01-31T12:00:00.020Z",
            endedAt: "2026-01-31T12:00:00.032Z",
            status: 200,
            durationSeconds: 0.012,
          },
        ],
        result,
      },
    ],
  },
);
export type CallRecord = Readonly<Static<typeof CallRecord>>;
