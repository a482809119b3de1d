import Type from "typebox";

import { CallDetailEvent, CallsEvent } from "./history/watched-calls.ts";
import { WatchBye, WatchFault, WatchHello } from "./watch/watch-signals.ts";
import { DoctorEvent, FunctionEvent, FunctionsEvent, LogEvent, QueuesEvent } from "./watch/watch-topics.ts";

/** The events of `GET /system/watch` by their name in the stream (`event:`), with the type of their `data:`. */
export interface WatchEvents {
  readonly hello: WatchHello;
  readonly functions: FunctionsEvent;
  readonly function: FunctionEvent;
  readonly queues: QueuesEvent;
  readonly calls: CallsEvent;
  readonly call: CallDetailEvent;
  readonly log: LogEvent;
  readonly doctor: DoctorEvent;
  readonly fault: WatchFault;
  readonly bye: WatchBye;
}
export type WatchEventName = keyof WatchEvents;

/** The data of any event. */
export const WatchEventData = Type.Union(
  [
    WatchHello,
    FunctionsEvent,
    FunctionEvent,
    QueuesEvent,
    CallsEvent,
    CallDetailEvent,
    LogEvent,
    DoctorEvent,
    WatchFault,
    WatchBye,
  ],
  { description: "Data of an event" },
);
