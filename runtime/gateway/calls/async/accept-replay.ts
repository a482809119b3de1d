import { randomUUID } from "node:crypto";

import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { named, publicly } from "../../../api/public-sentence.ts";
import type { ReplayRequest } from "../../../api/schemas/history/call-request.ts";
import type { Principal } from "../../../core/access/principal.ts";
import { acceptCall, type Accepted } from "../../../core/calls/accept-call.ts";
import type { QueuedCall } from "../../../core/calls/call.ts";
import { headerValue, withoutHeaders, type HeaderList } from "../../../core/headers/header-list.ts";
import { replayedCall } from "../../../core/history/requests/replayed-call.ts";
import { createTraceParent } from "../create-trace-parent.ts";
import { callbackTarget, callQueueing } from "./acceptance-checks.ts";
import type { AsyncParts } from "./async-parts.ts";
import { bodyTooLarge } from "./read-body.ts";

/** A call to be replayed. */
export interface ReplayOrder {
  /** Without headers that may hold credentials. */
  readonly call: QueuedCall;
  /** Its headers are such as a client may send. */
  readonly asked: ReplayRequest;
  /** Who asks for it, and from where. */
  readonly principal: Principal;
  readonly address: string;
}

/**
 * Queues a call anew, under a new id, as a call of its function as it is now that its sender makes.
 * @throws PlatformError as for any queued call
 */
export type AcceptReplay = (order: ReplayOrder) => Promise<Accepted>;

type ReplayParts = Pick<
  AsyncParts,
  | "acceptances"
  | "acceptTimeout"
  | "admission"
  | "bodyLimit"
  | "callbackRules"
  | "calls"
  | "edition"
  | "ledger"
  | "metrics"
  | "queues"
>;

/** Of one call: a client sends at most 100, and the platform adds some. */
const maxHeaders = 128;
const maxHeaderBytes = 32_768;

/** Accepts replays in the order of contract §4.2. */
export function createReplayAcceptor(parts: ReplayParts): AcceptReplay {
  const { metrics } = parts;
  return async (order) => {
    const begun = performance.now();
    const id = randomUUID();
    try {
      const [call, maxRetries] = callOf(parts, order, id);
      const done = parts.acceptances.begin(id, call.body.byteLength);
      const accepted = await acceptCall(parts, call, maxRetries, { replayOf: order.call.id }).finally(done);
      metrics.accepted.inc({ queue_name: call.queue });
      metrics.seconds.observe((performance.now() - begun) / 1_000);
      return accepted;
    } catch (err) {
      metrics.refused.inc({ reason: err instanceof PlatformError ? err.code : "internal_error" });
      throw err instanceof PlatformError && err.callQueued === "unknown" ? unanswered(order.call.id, id, err) : err;
    }
  };
}

function callOf(
  parts: ReplayParts,
  { call: original, asked, principal, address }: ReplayOrder,
  id: string,
): readonly [call: QueuedCall, maxRetries: number] {
  const { headers: sent = [], callback = false } = asked;
  const callbackUrl = callback ? callbackTarget(parts, original.callbackUrl) : undefined;
  const admitted = parts.admission.admitSender(original.function, principal, headerValue(sent, "authorization"));
  const { queue, maxRetries } = callQueueing(parts, admitted.limits);
  const own = [header.forwardedFor, address, "traceparent", createTraceParent()];
  if (admitted.authorization !== undefined) own.push("Authorization", admitted.authorization);
  const call = replayedCall(
    { ...original, callbackUrl },
    { ...asked, headers: withoutHeaders(sent, new Set(["authorization"])) },
    {
      id,
      start: BigInt(Date.now()) * 1_000_000n,
      queue: queue.name,
      headers: [...own, ...admitted.principalHeaders],
    },
  );
  checkSize(call, parts.bodyLimit);
  return [call, maxRetries];
}

function checkSize({ body, headers, parentId }: QueuedCall, bodyLimit: number): void {
  if (body.byteLength > bodyLimit) throw bodyTooLarge(`${body.byteLength} bytes are`, bodyLimit);
  const [count, bytes] = [headers.length / 2, bytesOf(headers)];
  if (count <= maxHeaders && bytes <= maxHeaderBytes) return;
  throw new PlatformError(
    "headers_too_large",
    `Cannot replay call "${parentId}": ${count} headers of ${bytes} bytes are over the limit of ${maxHeaders} of ${maxHeaderBytes} bytes`,
  );
}

function bytesOf(headers: HeaderList): number {
  return headers.reduce((sum, { length }) => sum + length, 0);
}

/** Nothing can be sent again under the new id: only whoever looks for it learns what became of it. */
function unanswered(replayed: string, callId: string, cause: PlatformError): PlatformError {
  return new PlatformError(
    "queue_unavailable",
    publicly`Cannot replay call ${named(replayed)}: no answer from the queue; if it was queued all the same, it is call ${named(callId)}`,
    { callQueued: "unknown", callId, retryAfterSeconds: 1, cause },
  );
}
