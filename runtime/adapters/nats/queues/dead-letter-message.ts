import type { MsgHdrs } from "@nats-io/transport-node";

import { isFunctionName, isNamespaceName } from "../../../api/grammar.ts";
import type { DeadLetterFacts, DeadLetterContent, StoredDeadLetter } from "../../../core/ports/dead-letters.ts";
import { messageHeader, parseCall } from "./call-message.ts";
import { parseCallback } from "./callback-message.ts";
import type { LastMessage } from "../link/read-last.ts";

const deadLetterHeader = {
  queue: "Weir-Queue",
  reason: "Weir-Dead-Reason",
  attempts: "Weir-Dead-Attempts",
  status: "Weir-Dead-Status",
  accepted: "Weir-Dead-Accepted",
  at: "Weir-Dead-At",
  redrives: "Weir-Dead-Redrives",
  size: "Weir-Dead-Size",
} as const;

/** Header of a dead letter whose body was too large to keep. */
export const truncatedDeadLetter = "Weir-Dead-Truncated";

/** Adds the facts of a dead letter to the headers of its original message. */
export function formatLetterFacts(letter: DeadLetterFacts & { readonly body: Uint8Array }, headers: MsgHdrs): void {
  headers.set(deadLetterHeader.queue, letter.queue);
  if (letter.function !== undefined) {
    headers.set(messageHeader.function, letter.function.name);
    headers.set(messageHeader.namespace, letter.function.namespace);
  }
  headers.set(deadLetterHeader.reason, letter.reason);
  headers.set(deadLetterHeader.attempts, String(letter.attempts));
  if (letter.lastStatus !== undefined) headers.set(deadLetterHeader.status, String(letter.lastStatus));
  headers.set(deadLetterHeader.accepted, String(letter.acceptedAt));
  headers.set(deadLetterHeader.at, String(letter.deadAt));
  headers.set(deadLetterHeader.redrives, String(letter.redrives));
  headers.set(deadLetterHeader.size, String(letter.body.byteLength));
}

const reasons: ReadonlySet<string> = new Set<DeadLetterFacts["reason"]>([
  "exhausted",
  "crash",
  "expired",
  "undecodable",
  "callback",
]);

/** Inverse of `formatLetterFacts`; undefined for a message that is not a dead letter of ours. */
export function parseDeadLetter({ subject, sequence, headers, body }: LastMessage): StoredDeadLetter | undefined {
  const [, queue = "", id = "", kind] = subject.split(".");
  const reason = headers.get(deadLetterHeader.reason);
  if (!isReason(reason) || (kind !== "call" && kind !== "callback")) return undefined;
  const number = (name: string): number => Number(headers.get(name) ?? 0) || 0;
  const status = number(deadLetterHeader.status);
  const name = headers.get(messageHeader.function) ?? "";
  const namespace = headers.get(messageHeader.namespace) ?? "";
  return {
    kind,
    id,
    queue,
    // The headers of a message that is not a call may hold anything.
    function: isFunctionName(name) && isNamespaceName(namespace) ? { namespace, name } : undefined,
    reason,
    attempts: number(deadLetterHeader.attempts),
    lastStatus: status === 0 ? undefined : status,
    acceptedAt: number(deadLetterHeader.accepted),
    deadAt: number(deadLetterHeader.at),
    redrives: number(deadLetterHeader.redrives),
    position: sequence,
    size: headers.has(deadLetterHeader.size) ? number(deadLetterHeader.size) : body.byteLength,
  };
}

/** What a redrive can send again of a message that `parseDeadLetter` has read. */
export function letterContent(
  { kind, queue, reason }: StoredDeadLetter,
  { headers, body }: LastMessage,
): DeadLetterContent {
  if (kind === "callback") {
    const parsed = parseCallback(headers, body);
    if ("unreadable" in parsed) return { kind: "unreadable", why: parsed.unreadable };
    const { read } = parsed;
    const truncated = headers.has(truncatedDeadLetter) || (read.output?.truncated ?? true);
    return { kind, callback: { ...read, output: { body: truncated ? new Uint8Array(0) : body, truncated } } };
  }
  if (headers.has(truncatedDeadLetter)) return { kind: "unreadable", why: "its body was too large to keep" };
  const parsed = parseCall(queue, headers, body);
  if (reason === "undecodable" || "unreadable" in parsed) {
    return { kind: "unreadable", why: "unreadable" in parsed ? parsed.unreadable : "a queue-worker could not read it" };
  }
  return { kind, call: parsed.read };
}

function isReason(text: string | undefined): text is DeadLetterFacts["reason"] {
  return text !== undefined && reasons.has(text);
}
