import type { ReplayRequest } from "../../../api/schemas/history/call-request.ts";
import type { QueuedCall } from "../../calls/call.ts";
import { withoutHeaders, type HeaderList } from "../../headers/header-list.ts";

/** What a replay has of its own. */
export interface ReplayFacts {
  readonly id: string;
  /** Acceptance, Unix nanoseconds. */
  readonly start: bigint;
  /** The queue that its function has now. */
  readonly queue: string;
  /** Headers of the platform: who sends it, from where, its trace. */
  readonly headers: HeaderList;
}

/** Of the one request alone: a replay has a trace of its own. */
const ofTrace = ["traceparent", "tracestate"];

/**
 * A call that sends a request again: with what was asked for in place of what the request had. Its callback is sent
 * only if that was asked for.
 */
export function replayedCall(call: QueuedCall, asked: ReplayRequest, facts: ReplayFacts): QueuedCall {
  const { headers: sent = [], body, callback = false } = asked;
  const replaced = sent.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return {
    ...call,
    id: facts.id,
    parentId: call.id,
    start: facts.start,
    queue: facts.queue,
    callbackUrl: callback ? call.callbackUrl : undefined,
    headers: [...withoutHeaders(call.headers, new Set([...ofTrace, ...replaced])), ...sent, ...facts.headers],
    body: body === undefined ? call.body : Buffer.from(body, "base64"),
  };
}
