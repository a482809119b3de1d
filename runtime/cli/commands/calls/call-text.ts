import type { CallRecord } from "../../../api/schemas/call-record.ts";
import { localTime } from "../../output/age-text.ts";
import { formatFields } from "../../output/format-fields.ts";
import { formatTable, type Column } from "../../output/format-table.ts";
import { callTimeline, offsetText, type CallEvent } from "./call-timeline.ts";

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
  const columns: readonly Column<CallEvent>[] = [
    { title: "TIME", cell: ({ at }) => localTime(at) },
    { title: "AFTER", cell: ({ at }) => offsetText(acceptedAt, at), align: "right" },
    { title: "EVENT", cell: ({ event }) => event },
    { title: "DETAIL", cell: ({ detail }) => detail },
  ];
  return `${facts}\n${formatTable(columns, callTimeline(record))}`;
}

/** State of a call in a few words, as in `failed: exhausted`. */
export function stateText({ queuePosition, reason, state }: CallRecord): string {
  const position = queuePosition === undefined ? "" : `, about number ${queuePosition} of its queue`;
  return `${state}${reason === undefined ? "" : `: ${reason}`}${position}`;
}

function resultText({ result }: CallRecord): string | undefined {
  if (result === undefined) return undefined;
  const { expiresAt, size, status, stored } = result;
  return `status ${status}, ${size} bytes, ${stored ? `kept until ${localTime(expiresAt)}` : "not kept"}`;
}

function callbackText({ callback }: CallRecord): string | undefined {
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
