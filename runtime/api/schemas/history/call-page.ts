import Type, { type Static } from "typebox";

import { time } from "../name-schemas.ts";
import { CallSummary } from "./call-summary.ts";

/** Calls of a time in which records were missed. */
export const HistoryGapView = Type.Object(
  { from: time("Begin"), to: time("End") },
  {
    title: "HistoryGap",
    description: "Calls that changed in this time may be missing, or shown in an earlier state",
    examples: [{ from: "2026-01-31T12:00:00.000Z", to: "2026-01-31T12:10:00.000Z" }],
  },
);

/** How current and complete the history is. */
export const HistoryStatus = Type.Object(
  {
    lagSeconds: Type.Number({ minimum: 0, description: "How far it is behind", examples: [0.2] }),
    complete: Type.Boolean({
      description: "Whether it was read from the history and is no further behind than usual",
      examples: [true],
    }),
    gaps: Type.Array(HistoryGapView, { description: "Gaps that the response touches" }),
  },
  {
    title: "HistoryStatus",
    description: "How current and complete the history is",
    examples: [{ lagSeconds: 0.2, complete: true, gaps: [] }],
  },
);
export type HistoryStatus = Readonly<Static<typeof HistoryStatus>>;

/** How many calls a list has on all its pages. */
export const CallTotal = Type.Object(
  {
    value: Type.Integer({ minimum: 0, description: "Number of calls", examples: [1] }),
    exact: Type.Boolean({ description: "false: an estimate", examples: [true] }),
  },
  { title: "CallTotal", description: "Calls on all pages", examples: [{ value: 1, exact: true }] },
);

/** One page of calls. */
export const CallPageView = Type.Object(
  {
    items: Type.Array(CallSummary, { description: "Newest first; a page before the last may have fewer than `limit`" }),
    next: Type.Optional(Type.String({ description: "Send it as `after` for the next page; absent on the last one" })),
    total: CallTotal,
    history: HistoryStatus,
  },
  {
    title: "CallPage",
    description: "One page of calls",
    examples: [{ items: [], total: { value: 0, exact: true }, history: { lagSeconds: 0.2, complete: true, gaps: [] } }],
  },
);
export type CallPageView = Readonly<Static<typeof CallPageView>>;
