import type { CallChange, StreamPosition } from "../../../core/ports/call-history.ts";
import type { RecordBatch } from "../../../core/ports/record-changes.ts";
import { parseChange } from "./parse-change.ts";
import type { TailMessage } from "./record-tail.ts";

/** What messages of the stream of call records say, which came after `before`; there is at least one. */
export function batchOf(
  messages: readonly TailMessage[],
  before: StreamPosition,
): Pick<RecordBatch, "changes" | "position" | "removed" | "unreadable" | "isLevel"> {
  const last = new Map<string, TailMessage>();
  for (const each of messages) {
    // To the end of the order, where its last change is.
    last.delete(each.message.subject);
    last.set(each.message.subject, each);
  }
  const changes: CallChange[] = [];
  let unreadable = 0;
  for (const { message, facts } of last.values()) {
    const change = parseChange(message, before.base + facts.sequence);
    if (change === "unreadable") unreadable += 1;
    else if (change !== "none") changes.push(change);
  }
  const newest = messages.at(-1)?.facts;
  if (newest === undefined) throw new TypeError("a batch without messages");
  const { sequence, storedAt, pending } = newest;
  return {
    changes,
    position: { ...before, sequence, at: Math.max(before.at, storedAt) },
    removed: sequence - before.sequence - messages.length,
    unreadable,
    isLevel: pending === 0,
  };
}
