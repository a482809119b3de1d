import { randomUUID } from "node:crypto";

import { parseCallId } from "../../../api/grammar.ts";
import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { CallEntry } from "../../../core/calls/call-entry.ts";
import { cancelCall } from "../../../core/calls/cancel-call.ts";
import { quote } from "../../../core/quote.ts";
import { endStatus } from "../call-observer.ts";
import type { CallRequest, CallResponse } from "../exchange.ts";
import type { RequestHead } from "../request-head.ts";
import { asyncFunctionPrefix } from "../split-target.ts";
import type { HandleCall } from "../sync/sync-invoker.ts";
import { accept } from "./accept.ts";
import type { AsyncParts } from "./async-parts.ts";
import { answerResult, answerStatus } from "./call-answers.ts";

/** One list for every path: a name may be that of a function, to be called, or the id of a call, to be looked at. */
const allowedMethods = "POST, GET, HEAD, DELETE";

/** The handler of `/async-function/…`: contract §4.2 and §4.5. */
export function createAsyncInvoker(parts: AsyncParts): HandleCall {
  return (request, response, head) => {
    const startedAt = performance.now();
    if (request.method === "POST") {
      accept(parts, request, response, head);
      return;
    }
    response.once("close", () => parts.observer.answered({ request, startedAt }, endStatus(response)));
    switch (request.method) {
      case "GET":
      case "HEAD":
      case "DELETE":
        answer(parts, request, response, head).catch((err: unknown) => {
          parts.writeError(request, response, err, { invocation: true, callId: callIdOf(request) });
        });
        return;
      default:
        refuseMethod(parts, request, response);
    }
  };
}

async function answer(
  parts: AsyncParts,
  request: CallRequest,
  response: CallResponse,
  head: RequestHead,
): Promise<void> {
  const target = (request.url ?? "").slice(asyncFunctionPrefix.length);
  const mark = target.indexOf("?");
  const segments = segmentsOf(request);
  const mayTouch = (entry: CallEntry): void =>
    parts.admission.checkCaller(`${entry.function}.${entry.namespace}`, request, head);

  if (request.method === "DELETE") {
    const id = parseCallId(segments.at(-1) ?? "");
    if (id === undefined || segments.length > 2) throw noCall("cancel", segments, "[{function}/]{call-id}");
    const named = segments.length === 2 ? segments[0] : undefined;
    await cancelCall(parts, id, (entry) => {
      if (named !== undefined) checkFunction(parts, id, named, entry);
      mayTouch(entry);
    });
    response.writeHead(202, { [header.callId]: id, "X-Content-Type-Options": "nosniff", "Content-Length": "0" }).end();
    return;
  }
  const id = parseCallId(segments[0] ?? "");
  const wantsResult = segments.length === 2 && segments[1] === "result";
  if (id === undefined || (segments.length !== 1 && !wantsResult)) throw noCall("show", segments, "{call-id}[/result]");
  if (wantsResult) await answerResult(parts, response, id, mayTouch);
  else await answerStatus(parts, response, id, mark === -1 ? "" : target.slice(mark + 1), mayTouch);
}

function checkFunction(parts: AsyncParts, id: string, named: string, entry: CallEntry): void {
  const key = `${entry.function}.${entry.namespace}`;
  const meant = parts.table.findKey(named)?.key ?? named;
  if (meant !== key && named !== entry.function) {
    throw new PlatformError(
      "call_not_found",
      `Cannot cancel call "${id}": it is not a call of function "${named.slice(0, 127)}"`,
    );
  }
}

/** Whoever gets here mostly meant to call a function, which is a POST. */
function noCall(action: string, segments: readonly string[], expected: string): PlatformError {
  const named = quote(segments.join("/"));
  return new PlatformError(
    "malformed_request",
    `Cannot ${action} call ${named}: calls are POSTed; an id is a UUID, expected ${asyncFunctionPrefix}${expected}`,
  );
}

function refuseMethod(parts: AsyncParts, request: CallRequest, response: CallResponse): void {
  const path = quote((request.url ?? "").split("?", 1)[0] ?? "");
  const sentence = `Cannot ${request.method ?? ""} ${path}: it allows ${allowedMethods}`;
  parts.writeError(request, response, new PlatformError("method_not_allowed", sentence), {
    invocation: true,
    callId: callIdOf(request),
    extra: { Allow: allowedMethods },
  });
}

/** The id in the path, else one for the error alone. */
function callIdOf(request: CallRequest): string {
  for (const segment of segmentsOf(request)) {
    const id = parseCallId(segment);
    if (id !== undefined) return id;
  }
  return randomUUID();
}

/** The parts of the path after `/async-function/`. */
function segmentsOf(request: CallRequest): string[] {
  return (request.url ?? "").slice(asyncFunctionPrefix.length).split("?", 1)[0]?.split("/") ?? [];
}
