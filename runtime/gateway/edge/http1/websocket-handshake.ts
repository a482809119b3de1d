import type { RequestText } from "../../../http1/request-text.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import { functionPrefix } from "../../calls/split-target.ts";

/** Whether the request is a WebSocket handshake to a function (`security.md` H8); any other upgrade is ignored. */
export function isWebSocketHandshake({ method, version, target }: RequestText, head: RequestHead): boolean {
  return (
    head.upgrade === "websocket" &&
    head.upgrades &&
    method === "GET" &&
    version === "1.1" &&
    target.startsWith(functionPrefix) &&
    !head.chunked &&
    (head.contentLength ?? 0) === 0
  );
}
