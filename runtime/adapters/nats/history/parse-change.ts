import type { Msg } from "@nats-io/transport-node";

import { parseCallId } from "../../../api/grammar.ts";
import { parseCallEntry, type CallEntry } from "../../../core/calls/call-entry.ts";
import type { CallChange } from "../../../core/ports/call-history.ts";
import { operationHeader } from "../records/call-record-reader.ts";
import { bucket, keySubject } from "../stream-names.ts";

const prefix = keySubject(bucket.calls, "");
/** Header of the markers that the broker itself writes. */
const brokerMarker = "Nats-Marker-Reason";
/** What a call that was not accepted leaves behind. */
const removal = "DEL";

/** The change in a message of the bucket; "none" for a marker that is no change. Never throws. */
export function parseChange(message: Msg, revision: number): CallChange | "none" | "unreadable" {
  const id = message.subject.slice(prefix.length);
  if (parseCallId(id) !== id) return "unreadable";
  // A marker has no payload (NATS ADR-8, ADR-43): headers of records are not parsed.
  if (message.data.length === 0) return changeOfMarker(message, id, revision);
  const entry = entryIn(message);
  return entry === undefined ? "unreadable" : { kind: "entry", id, revision, entry };
}

function changeOfMarker({ headers }: Msg, id: string, revision: number): CallChange | "none" | "unreadable" {
  const operation = headers?.get(operationHeader) ?? "";
  if (operation === removal) return { kind: "withdrawn", id, revision };
  return operation !== "" || headers?.has(brokerMarker) === true ? "none" : "unreadable";
}

function entryIn(message: Msg): CallEntry | undefined {
  try {
    const entry = parseCallEntry(message.string());
    return isWhole(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever may write records may write anything: what is no record must not stop those after it. */
function isWhole(entry: CallEntry | null): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  const { namespace, function: name, queue, state, accepted, attempts, status, ended, reason, retries } = entry;
  return (
    [namespace, name, queue, state].every((text) => typeof text === "string") &&
    /^\d{1,20}$/.test(accepted) &&
    Array.isArray(attempts) &&
    [status, ended].every((value) => value === null || typeof value === "number") &&
    (reason === null || typeof reason === "string") &&
    typeof retries === "number"
  );
}
