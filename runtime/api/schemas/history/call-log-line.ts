import Type, { type Static } from "typebox";

import { LogRecord } from "../log-record.ts";
import { openEnum } from "../open-enum.ts";

/** Why a line belongs to a call. */
export const lineMatches = ["tagged", "text", "window"] as const;

/** One line of a call's log. */
export const CallLogLine = Type.Object(
  {
    ...LogRecord.properties,
    match: openEnum(
      lineMatches,
      "tagged: it was written by the process that ran for the call; text: the id of the call stands in the line; window: it was written while the call ran or half a second later, and the history knows of no other call that the replica had then",
    ),
  },
  {
    title: "CallLogLine",
    description: "One line that a function logged during a call",
    examples: [
      {
        name: "hello",
        namespace: "functions",
        instance: "hello-1-0",
        timestamp: "2026-01-31T12:00:00.123456789Z",
        text: "hello\n",
        match: "window",
      },
    ],
  },
);
export type CallLogLine = Readonly<Static<typeof CallLogLine>>;
