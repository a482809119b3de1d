import Type, { type Static } from "typebox";

import { DoctorReport } from "../doctor-report.ts";
import { FunctionStatus } from "../function-status.ts";
import { LogRecord } from "../log-record.ts";
import { QueueStatus } from "../queue-status.ts";
import { FunctionRow } from "./function-row.ts";
import { watchFields } from "./watch-signals.ts";

const { on, begin, skipped } = watchFields;
/** Event `functions`, topic `functions` or `functions:<namespace>`: the whole in portions of 500 rows, then changes. */
export const FunctionsEvent = Type.Object(
  {
    on,
    begin,
    more: Type.Boolean({ description: "Whether more portions of the whole follow", examples: [false] }),
    rows: Type.Array(FunctionRow, { maxItems: 500, description: "Rows that are new or changed" }),
    removed: Type.Array(Type.String(), { description: "Keys of rows that are gone" }),
  },
  {
    title: "FunctionsEvent",
    description: "Rows of functions",
    examples: [{ on: "functions", begin: true, more: false, rows: [], removed: [] }],
  },
);
export type FunctionsEvent = Readonly<Static<typeof FunctionsEvent>>;

/** Event `function`, topic `function:<namespace>:<name>`, when it changes. */
export const FunctionEvent = Type.Object(
  {
    on,
    status: Type.Union([FunctionStatus, Type.Null()], { description: "The function; null = there is none (any more)" }),
  },
  {
    title: "FunctionEvent",
    description: "A function has changed",
    examples: [{ on: "function:functions:hello", status: null }],
  },
);
export type FunctionEvent = Readonly<Static<typeof FunctionEvent>>;

/** Event `queues`: all at first, then those that changed, at most once a second. */
export const QueuesEvent = Type.Object(
  {
    on,
    begin,
    queues: Type.Array(QueueStatus, { description: "Queues that are new or changed" }),
    removed: Type.Array(Type.String(), { description: "Names of queues that are gone" }),
  },
  {
    title: "QueuesEvent",
    description: "Queues",
    examples: [{ on: "queues", begin: true, queues: [], removed: [] }],
  },
);
export type QueuesEvent = Readonly<Static<typeof QueuesEvent>>;

/** Event `log`, topic `log:<namespace>:<name>`: the last lines at first, then new ones, at most 200 a second. */
export const LogEvent = Type.Object(
  { on, begin, records: Type.Array(LogRecord, { maxItems: 200, description: "Lines, oldest first" }), skipped },
  {
    title: "LogEvent",
    description: "Lines of a function's log",
    examples: [{ on: "log:functions:hello", begin: true, records: [], skipped: 0 }],
  },
);
export type LogEvent = Readonly<Static<typeof LogEvent>>;

/** Event `doctor`: the findings, when they change. */
export const DoctorEvent = Type.Object(
  { on, report: DoctorReport },
  {
    title: "DoctorEvent",
    description: "The doctor's findings",
    examples: [{ on: "doctor", report: { checkedAt: "2026-01-31T12:00:00.000Z", parts: [], findings: [] } }],
  },
);
export type DoctorEvent = Readonly<Static<typeof DoctorEvent>>;
