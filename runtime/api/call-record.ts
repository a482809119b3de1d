import Type, { type Static } from "typebox";

/** The states of an asynchronous call (contract §4.4). */
export const callStates = ["queued", "running", "waiting", "done", "failed", "cancelled"] as const;
export type CallState = (typeof callStates)[number];

/** What became of an asynchronous call (contract §2). Times are RFC 3339 unless said otherwise. */
export const CallRecord = Type.Object({
  callId: Type.String(),
  functionName: Type.String(),
  namespace: Type.String(),
  queue: Type.String(),
  state: Type.Union([
    Type.Literal("queued"),
    Type.Literal("running"),
    Type.Literal("waiting"),
    Type.Literal("done"),
    Type.Literal("failed"),
    Type.Literal("cancelled"),
  ]),
  reason: Type.Optional(Type.String()),
  acceptedAt: Type.String(),
  startTime: Type.String({ description: "Acceptance, Unix nanoseconds" }),
  endedAt: Type.Optional(Type.String()),
  retries: Type.Integer(),
  maxRetries: Type.Integer(),
  nextAttemptAt: Type.Optional(Type.String()),
  queuePosition: Type.Optional(Type.Integer({ description: "1 = next, estimate" })),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer(),
      startedAt: Type.String(),
      endedAt: Type.Optional(Type.String()),
      status: Type.Optional(Type.Integer()),
      durationSeconds: Type.Optional(Type.Number()),
      error: Type.Optional(Type.String()),
    }),
  ),
  callback: Type.Optional(
    Type.Object({
      url: Type.String({ description: "Without its query" }),
      state: Type.Union([Type.Literal("pending"), Type.Literal("sent"), Type.Literal("failed")]),
      attempts: Type.Integer(),
      status: Type.Optional(Type.Integer()),
    }),
  ),
  result: Type.Optional(
    Type.Object({
      href: Type.String(),
      status: Type.Integer(),
      size: Type.Integer({ description: "Bytes" }),
      stored: Type.Boolean(),
      expiresAt: Type.String(),
    }),
  ),
});
export type CallRecord = Readonly<Static<typeof CallRecord>>;
