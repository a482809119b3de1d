import { randomUUID } from "node:crypto";

import { parseCallId } from "../../../api/grammar.ts";
import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { CallEntry } from "../../../core/calls/call-entry.ts";
import { cancelCall } from "../../../core/calls/cancel-call.ts";
import { formatRef } from "../../../core/functions/function-ref.ts";
import type { TableEntry } from "../../../core/replicas/function-table.ts";
import { quote } from "../../../core/quote.ts";
import { endStatus } from "../call-observer.ts";
import { applyCors, corsRuleOf, isPreflight } from "../cors.ts";
import type { Exchange } from "../exchange.ts";
import { asyncFunctionPrefix } from "../split-target.ts";
import type { HandleCall } from "../sync/sync-invoker.ts";
import { accept } from "./accept.ts";
import type { AsyncParts } from "./async-parts.ts";
import { sendResult, sendStatus, type CheckAccess } from "./call-responses.ts";

/** One list for every path, which may name a function to call or the id of a call to view. */
const allowedMethods = "POST, GET, HEAD, DELETE";

/** The handler of `/async-function/…`: contract §4.2 and §4.5. */
export function createAsyncInvoker(parts: AsyncParts): HandleCall {
  return (exchange) => {
    const startedAt = performance.now();
    if (exchange.method === "POST") {
      accept(parts, exchange);
      return;
    }
    exchange.once("close", () => parts.observer.answered({ exchange, startedAt }, endStatus(exchange)));
    switch (exchange.method) {
      case "GET":
      case "HEAD":
      case "DELETE":
        respond(parts, exchange).catch((err: unknown) => {
          parts.writeError(exchange, err, { invocation: true, callId: callIdOf(exchange) });
        });
        return;
      case "OPTIONS":
        answerOptions(parts, exchange).catch((err: unknown) => {
          parts.writeError(exchange, err, { invocation: true, callId: callIdOf(exchange) });
        });
        return;
      default:
        refuseMethod(parts, exchange);
    }
  };
}

async function respond(parts: AsyncParts, exchange: Exchange): Promise<void> {
  const target = exchange.url.slice(asyncFunctionPrefix.length);
  const mark = target.indexOf("?");
  const segments = segmentsOf(exchange);

  if (exchange.method === "DELETE") {
    const id = parseCallId(segments.at(-1) ?? "");
    if (id === undefined || segments.length > 2) throw noCall("cancel", segments, "[{function}/]{call-id}");
    const named = segments.length === 2 ? segments[0] : undefined;
    const checkAccess = await accessCheck(parts, exchange, id);
    await cancelCall(parts, id, (entry) => {
      if (named !== undefined) checkFunction(parts, id, named, entry);
      checkAccess(entry);
    });
    exchange.writeHead(202, { [header.callId]: id, "X-Content-Type-Options": "nosniff", "Content-Length": "0" }).end();
    return;
  }
  const id = parseCallId(segments[0] ?? "");
  const wantsResult = segments.length === 2 && segments[1] === "result";
  if (id === undefined || (segments.length !== 1 && !wantsResult)) throw noCall("show", segments, "{call-id}[/result]");
  const checkAccess = await accessCheck(parts, exchange, id);
  if (wantsResult) await sendResult(parts, exchange, id, checkAccess);
  else await sendStatus(parts, exchange, id, mark === -1 ? "" : target.slice(mark + 1), checkAccess);
}

/** Checks whether the sender may see or cancel a call; the sender's token is read before, as records are changed at once. */
async function accessCheck(parts: AsyncParts, exchange: Exchange, id: string): Promise<CheckAccess> {
  const { admission } = parts;
  const { head } = exchange;
  const token = await admission.readToken(head);
  return (entry) => {
    const rule = corsRuleOf(functionOf(parts, entry));
    if (rule !== undefined) applyCors(exchange, rule);
    admission.checkCaller({ namespace: entry.namespace, name: entry.function }, exchange, head, token, id);
  };
}

/** A preflight is answered by the rule of the function in the path, or of that of the call in it. */
async function answerOptions(parts: AsyncParts, exchange: Exchange): Promise<void> {
  if (isPreflight(exchange)) {
    const named = parts.admission.find(exchange, asyncFunctionPrefix).entry;
    const id = named === undefined ? parseCallId(segmentsOf(exchange)[0] ?? "") : undefined;
    const call = id === undefined ? undefined : await parts.ledger.read(id);
    const rule = corsRuleOf(named ?? (call === undefined ? undefined : functionOf(parts, call.entry)));
    if (rule !== undefined && applyCors(exchange, rule)) return;
  }
  refuseMethod(parts, exchange);
}

function functionOf({ table }: AsyncParts, { namespace, function: name }: CallEntry): TableEntry | undefined {
  return table.findKey(formatRef({ namespace, name }));
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

/** The sentence mentions POST, as most such clients meant to call a function. */
function noCall(action: string, segments: readonly string[], expected: string): PlatformError {
  const named = quote(segments.join("/"));
  return new PlatformError(
    "malformed_request",
    `Cannot ${action} call ${named}: calls are POSTed; an id is a UUID, expected ${asyncFunctionPrefix}${expected}`,
  );
}

function refuseMethod(parts: AsyncParts, exchange: Exchange): void {
  const path = quote(exchange.url.split("?", 1)[0] ?? "");
  const sentence = `Cannot ${exchange.method} ${path}: it allows ${allowedMethods}`;
  parts.writeError(exchange, new PlatformError("method_not_allowed", sentence), {
    invocation: true,
    callId: callIdOf(exchange),
    extra: { Allow: allowedMethods },
  });
}

/** The id in the path, else a new one for the error. */
function callIdOf(exchange: Exchange): string {
  for (const segment of segmentsOf(exchange)) {
    const id = parseCallId(segment);
    if (id !== undefined) return id;
  }
  return randomUUID();
}

/** The parts of the path after `/async-function/`. */
function segmentsOf({ url }: Exchange): string[] {
  return url.slice(asyncFunctionPrefix.length).split("?", 1)[0]?.split("/") ?? [];
}
