import type { CallDetail } from "../../../api/schemas/history/call-detail.ts";
import { localTime } from "../../output/age-text.ts";
import { counted } from "../../output/counted.ts";
import { formatFields } from "../../output/format-fields.ts";
import { eventTable } from "./call-events.ts";
import { callbackText, resultText, stateText } from "./call-text.ts";
import { stderrTails } from "./stderr-tails.ts";
import { timelineEvents } from "./timeline-events.ts";

/** Everything that is known of a call, for people: its facts, its timeline, and what its failed runs wrote. */
export function detailText(detail: CallDetail): string {
  const { acceptedAt, attempts, callId, functionName, kind, maxRetries, namespace, queue, redrives, replays, retries } =
    detail;
  const facts = formatFields([
    ["call", callId],
    ["kind", kind === "sync" ? "synchronous" : undefined],
    ["function", `${functionName}.${namespace}`],
    ["queue", queue],
    ["state", stateText(detail)],
    ["sent by", senderText(detail)],
    ["replay of", detail.replayOf],
    ["replayed", replays.join(", ")],
    ["retries", kind === "sync" ? undefined : `${retries} of ${maxRetries}`],
    ["redriven", redrives === 0 ? undefined : counted(redrives, "time")],
    ["result", resultText(detail)],
    ["callback", callbackText(detail)],
    ["request", requestText(detail)],
    ["logs", detail.logs.lines === undefined ? undefined : counted(detail.logs.lines, "line")],
  ]);
  return `${facts}\n${eventTable(acceptedAt, timelineEvents(detail.timeline))}${stderrTails(attempts)}`;
}

function senderText({ principal }: CallDetail): string | undefined {
  if (principal === undefined) return undefined;
  return principal.issuer === undefined ? principal.subject : `${principal.subject} (${principal.issuer})`;
}

function requestText({ request: { expiresAt, kept, size } }: CallDetail): string | undefined {
  if (!kept) return undefined;
  const bytes = size === undefined ? "" : `${counted(size, "byte")}, `;
  return `${bytes}kept${expiresAt === undefined ? "" : ` until ${localTime(expiresAt)}`}`;
}
