import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Answers `Expect: 100-continue` once somebody reads the body: whatever refuses the request comes first. A client that
 * gets its answer without being asked for the body may send it or not, so its connection ends with that answer.
 */
export function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  // Clients of HTTP/1.0 know no interim answers (RFC 9110 §10.1.1).
  if (request.httpVersion === "1.0") return;
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once("resume", () => {
    if (response.headersSent || response.destroyed) return;
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  });
}
