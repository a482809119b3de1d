import type { UpstreamRequest } from "../../../core/ports/upstream.ts";
import type { CallBody } from "./request-body.ts";
import type { SyncCallFacts } from "./sync-call-parts.ts";

/**
 * The request to a replica: over HTTP/2 with the client's trailers, if it can send any; WebSockets over HTTP/1.1 only.
 */
export function outgoingRequest(facts: SyncCallFacts, body: CallBody): UpstreamRequest {
  const { exchange, target, headers, limits } = facts;
  const { method, upgrade } = exchange;
  const { forward } = exchange.head;
  if (limits.protocol === "h2c") {
    const wanted = exchange.wantsTrailers ? [...headers, "te", "trailers"] : headers;
    const trailers = exchange.requestTrailers;
    return { method, target, forward, headers: wanted, body, protocol: "h2c", trailers };
  }
  return { method, target, forward, headers, body, upgrade: upgrade === undefined ? undefined : "websocket" };
}
