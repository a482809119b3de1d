import type { UpstreamRequest } from "../../../core/ports/upstream.ts";
import type { CallBody } from "./request-body.ts";
import type { SyncCallFacts } from "./sync-call-parts.ts";

/** The request to a replica. Its trailers pass over HTTP/2 only, WebSockets and an expectation that is the replica's to meet pass over HTTP/1.1 only. */
export function outgoingRequest(facts: SyncCallFacts, body: CallBody): UpstreamRequest {
  const { exchange, target, headers, limits } = facts;
  const { method, upgrade, wantsTrailers, requestTrailers: trailers } = exchange;
  const { forward } = exchange.head;
  if (limits.protocol === "h2c")
    return { method, target, forward, headers, body, protocol: "h2c", wantsTrailers, trailers };
  return {
    method,
    target,
    forward,
    headers,
    body,
    upgrade: upgrade === undefined ? undefined : "websocket",
    expectsContinue: exchange.passExpectation(),
    wantsTrailers,
  };
}
