import Type, { type Static } from "typebox";

import { CallRecordAttempt } from "../call-record.ts";
import { openEnum } from "../open-enum.ts";
import { lineMatches } from "./call-log-line.ts";

/** What a function wrote to standard error at the end of a run. */
export const StderrTail = Type.Object(
  {
    lines: Type.Array(Type.String({ description: "A line without its newline", examples: ["Error: no such order"] }), {
      description: "Whole lines, oldest first, at most 2 KiB",
    }),
    match: openEnum(
      lineMatches,
      "tagged: they were written by the process that ran for the call; text: the id of the call stands in the lines; window: they were written during the run or half a second later, and the history knows of no other call that the replica had then",
    ),
  },
  {
    title: "StderrTail",
    description: "The last lines that the function wrote to standard error during the run",
    examples: [{ lines: ["Error: no such order", "    at pay (/home/app/index.js:7:9)"], match: "window" }],
  },
);
export type StderrTail = Readonly<Static<typeof StderrTail>>;

/** One run of a call, with what the history adds to its record. */
export const CallAttemptDetail = Type.Object(
  { ...CallRecordAttempt.properties, stderrTail: Type.Optional(StderrTail) },
  {
    title: "CallAttemptDetail",
    description:
      "One run of the call; one that failed shows what the function wrote to standard error meanwhile, to who may read its logs and as far as lines are kept and can be matched",
    examples: [
      {
        number: 1,
        startedAt: "2026-01-31T12:00:00.020Z",
        endedAt: "2026-01-31T12:00:00.120Z",
        status: 500,
        replica: "hello-1-0",
        stderrTail: { lines: ["Error: no such order"], match: "window" },
      },
    ],
  },
);
export type CallAttemptDetail = Readonly<Static<typeof CallAttemptDetail>>;
