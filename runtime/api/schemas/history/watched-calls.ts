import Type, { type Static } from "typebox";

import { watchFields } from "../watch/watch-signals.ts";
import { CallDetail, exampleCall } from "./call-detail.ts";
import { CallSummary } from "./call-summary.ts";

const { on, begin, skipped } = watchFields;

/**
 * Event `calls`, topic `calls` or `calls:<query of GET /system/calls>`, in which a comma is `%2C`: the newest 50 at
 * first, then those of them that changed and new ones, at most 50 a second.
 */
export const CallsEvent = Type.Object(
  {
    on,
    begin,
    calls: Type.Array(CallSummary, { maxItems: 50, description: "Calls that are new or changed, newest first" }),
    removed: Type.Array(Type.String(), { description: "Ids of those told before that the filter no longer matches" }),
    skipped,
  },
  {
    title: "CallsEvent",
    description: "Calls",
    examples: [{ on: "calls", begin: true, calls: [], removed: [], skipped: 0 }],
  },
);
export type CallsEvent = Readonly<Static<typeof CallsEvent>>;

/** Event `call`, topic `call:<id>`, when it changes; an unknown call is event `fault`. */
export const CallDetailEvent = Type.Object(
  { on, call: CallDetail },
  {
    title: "CallDetailEvent",
    description: "A call has changed",
    examples: [{ on: `call:${exampleCall.callId}`, call: exampleCall }],
  },
);
export type CallDetailEvent = Readonly<Static<typeof CallDetailEvent>>;
