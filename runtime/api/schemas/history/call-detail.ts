import Type, { type Static } from "typebox";

import { CallRecord, CallRecordCallback, CallRecordPrincipal, CallResult } from "../call-record.ts";
import { callId, time } from "../name-schemas.ts";
import { CallAttemptDetail } from "./call-attempt-detail.ts";
import { HistoryStatus } from "./call-page.ts";
import { summaryFields } from "./call-summary.ts";
import { TimelineStep } from "./timeline-step.ts";

const action = (what: string) =>
  Type.Unsafe<true | string>({
    // Not a list of types, which not every generator of clients reads.
    anyOf: [{ type: "boolean" }, { type: "string" }],
    description: `true if it can be ${what}, else the sentence why not`,
    examples: [true, 'Cannot cancel call "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10": it is done'],
  });

/** What can be done with a call now. */
export const CallActions = Type.Object(
  { cancel: action("cancelled"), redrive: action("redriven"), replay: action("replayed") },
  {
    title: "CallActions",
    description: "What can be done with the call now",
    examples: [{ cancel: true, redrive: "Cannot redrive call: it is running", replay: true }],
  },
);
export type CallActions = Readonly<Static<typeof CallActions>>;

/** Whether a call's request can be read and sent again. */
export const KeptRequest = Type.Object(
  {
    kept: Type.Boolean({ description: "Whether it can be read, and the call replayed", examples: [true] }),
    size: Type.Optional(Type.Integer({ minimum: 0, description: "Bytes of its body", examples: [5] })),
    expiresAt: Type.Optional(time("When it is removed")),
  },
  { title: "KeptRequest", description: "The request, as far as it is kept", examples: [{ kept: true, size: 5 }] },
);
export type KeptRequest = Readonly<Static<typeof KeptRequest>>;

/** The log lines of a call. */
export const KeptLines = Type.Object(
  {
    kept: Type.Boolean({ description: "Whether log lines of its function are kept", examples: [true] }),
    lines: Type.Optional(
      Type.Integer({ minimum: 0, description: "Lines that belong to it; at most 1000 are counted", examples: [3] }),
    ),
  },
  { title: "KeptLines", description: "Its log lines, as far as they are kept", examples: [{ kept: true, lines: 3 }] },
);
export type KeptLines = Readonly<Static<typeof KeptLines>>;

const { startTime, maxRetries, nextAttemptAt, queuePosition } = CallRecord.properties;

/** A call that runs. */
export const exampleCall = {
  callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
  kind: "async",
  functionName: "hello",
  namespace: "functions",
  queue: "default",
  state: "running",
  source: "http",
  acceptedAt: "2026-01-31T12:00:00.000Z",
  startTime: "1769860800000000000",
  retries: 0,
  maxRetries: 10,
  attempts: [{ number: 1, startedAt: "2026-01-31T12:00:00.020Z" }],
  replays: [],
  redrives: 0,
  timeline: [
    { at: "2026-01-31T12:00:00.000Z", kind: "accepted" },
    { at: "2026-01-31T12:00:00.020Z", kind: "taken", attempt: 1, worker: "node-1:4711" },
  ],
  actions: {
    cancel: true,
    redrive: 'Cannot redrive call "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10": it is running',
    replay: 'Cannot replay call "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10": it is running',
  },
  request: { kept: false },
  logs: { kept: true, lines: 0 },
  history: { lagSeconds: 0.2, complete: true, gaps: [] },
};

/** Everything that is known of a call. */
export const CallDetail = Type.Object(
  {
    ...summaryFields,
    principal: Type.Optional(CallRecordPrincipal),
    startTime,
    maxRetries,
    nextAttemptAt,
    queuePosition,
    attempts: Type.Array(CallAttemptDetail, { description: "Its runs so far; of very many, some are left out" }),
    callback: Type.Optional(CallRecordCallback),
    result: Type.Optional(CallResult),
    replayOf: Type.Optional(callId("The call that it replays")),
    replays: Type.Array(callId("Id of a call"), { description: "Calls that replay it, oldest first" }),
    redrives: Type.Integer({ minimum: 0, description: "How often it was redriven", examples: [0] }),
    timeline: Type.Array(TimelineStep, { description: "What happened to it, in order" }),
    actions: CallActions,
    request: KeptRequest,
    logs: KeptLines,
    history: HistoryStatus,
  },
  {
    title: "CallDetail",
    description: "Everything that is known of a call",
    examples: [exampleCall],
  },
);
export type CallDetail = Readonly<Static<typeof CallDetail>>;
