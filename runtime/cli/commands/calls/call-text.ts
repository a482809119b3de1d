import type { CallRecord } from "../../../api/schemas/call-record.ts";
import { localTime } from "../../output/age-text.ts";
import { formatFields } from "../../output/format-fields.ts";
import { eventTable } from "./call-events.ts";
import { recordEvents } from "./record-events.ts";

/** A call record for people: its facts, then its timeline. */
export function callText(record: CallRecord): string {
  const { acceptedAt, callId, functionName, maxRetries, namespace, queue, retries } = record;
  const facts = formatFields([
    ["call", callId],
    ["function", `${functionName}.${namespace}`],
    ["queue", queue],
    ["state", stateText(record)],
    ["retries", `${retries} of ${maxRetries}`],
    ["result", resultText(record)],
    ["callback", callbackText(record)],
  ]);
  return `${facts}\n${eventTable(acceptedAt, recordEvents(record))}`;
}

/** What the texts of calls have in common. */
interface StatedCall extends Pick<CallRecord, "queuePosition" | "reason"> {
  readonly state: string;
}

/** State of a call in a few words, as in `failed: exhausted`. */
export function stateText({ queuePosition, reason, state }: StatedCall): string {
  const position = queuePosition === undefined ? "" : `, about number ${queuePosition} of its queue`;
  return `${state}${reason === undefined ? "" : `: ${reason}`}${position}`;
}

/** What is known of a call's output. */
export function resultText({ result }: Pick<CallRecord, "result">): string | undefined {
  if (result === undefined) return undefined;
  const { expiresAt, size, status, stored } = result;
  return `status ${status}, ${size} bytes, ${stored ? `kept until ${localTime(expiresAt)}` : "not kept"}`;
}

/** Where a call's callback goes, and how far it is. */
export function callbackText({ callback }: Pick<CallRecord, "callback">): string | undefined {
  if (callback === undefined) return undefined;
  const { attempts, error, nextAttemptAt, state, status, url } = callback;
  const parts = [
    state,
    `sent ${attempts === 1 ? "once" : `${attempts} times`}`,
    ...(status === undefined ? [] : [`last status ${status}`]),
    ...(error === undefined ? [] : [error]),
    ...(nextAttemptAt === undefined ? [] : [`next at ${localTime(nextAttemptAt)}`]),
  ];
  return `${url} (${parts.join(", ")})`;
}
