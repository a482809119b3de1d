import type { WatchEventName, WatchEvents } from "../../api/schemas/watch-events.ts";

/** Media type of a stream of events. */
export const eventStreamType = "text/event-stream";

/** A sign of life that is no event. */
export const commentText = ":\n\n";

/** An event as it is sent: JSON has no line ends, so its data is one line. */
export function eventText<Name extends WatchEventName>(name: Name, data: WatchEvents[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
