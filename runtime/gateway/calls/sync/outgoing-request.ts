import type { UpstreamRequest } from "../../../core/ports/upstream.ts";
import { UpgradeResponse } from "../../edge/http1/http1-upgrade.ts";
import { Http2Request } from "../../edge/http2/http2-request.ts";
import { passedTrailers } from "./pass-trailers.ts";
import type { CallBody } from "./request-body.ts";
import type { SyncCallFacts } from "./sync-call-parts.ts";

/** What a replica is asked: over HTTP/2 with trailers, if client and function speak it; a WebSocket only over HTTP/1.1. */
export function outgoingRequest(facts: SyncCallFacts, body: CallBody): UpstreamRequest {
  const { request, response, target, headers, limits } = facts;
  const { forward } = facts.head;
  const method = request.method ?? "GET";
  if (limits.protocol === "h2c") {
    if (!(request instanceof Http2Request)) return { method, target, forward, headers, body, protocol: "h2c" };
    const wanted = request.headers.te === "trailers" ? [...headers, "te", "trailers"] : headers;
    const trailers = (): string[] => passedTrailers(request.rawTrailers).flat();
    return { method, target, forward, headers: wanted, body, protocol: "h2c", trailers };
  }
  const upgrade = response instanceof UpgradeResponse ? ("websocket" as const) : undefined;
  return { method, target, forward, headers, body, upgrade };
}
