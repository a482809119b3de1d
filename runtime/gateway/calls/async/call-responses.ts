import { formatDuration, parseDuration } from "../../../api/duration.ts";
import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { CallEntry } from "../../../core/calls/call-entry.ts";
import { callView } from "../../../core/calls/call-view.ts";
import { publicCallView } from "../../../core/calls/public-call-view.ts";
import type { CallLedger, StoredResult } from "../../../core/ports/call-ledger.ts";
import { headerValue } from "../../../core/headers/header-list.ts";
import type { Exchange } from "../exchange.ts";
import type { AsyncParts } from "./async-parts.ts";

/** Longest a status request waits, milliseconds. */
const longestWait = 60_000;
/** Milliseconds between two reads of the record: the signal of a call's end can be lost. */
const pollInterval = 5_000;

/** Throws a PlatformError unless the sender may see the call. */
export type CheckAccess = (entry: CallEntry) => void;

/** GET `/async-function/{id}`: the record, at once, or as soon as the call or the requested wait is over. */
export async function sendStatus(
  parts: AsyncParts,
  exchange: Exchange,
  id: string,
  query: string,
  checkAccess: CheckAccess,
): Promise<void> {
  const wait = waitOf(query);
  const until = performance.now() + wait;
  let entry = await readEntry(parts, id);
  checkAccess(entry);
  while (entry.ended === null && performance.now() < until && !exchange.destroyed) {
    await endOf(parts, exchange, id, Math.min(until - performance.now(), pollInterval), async () => {
      entry = await readEntry(parts, id);
      return entry.ended !== null;
    });
    if (exchange.destroyed) return;
    entry = await readEntry(parts, id);
  }
  const view = callView(id, entry, parts.ledger.now(), await parts.positions.of(entry));
  const body = `${JSON.stringify(publicCallView(view))}\n`;
  exchange
    .writeHead(200, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      [header.callId]: id,
    })
    .end(body);
}

/** GET `/async-function/{id}/result`: the function's output. */
export async function sendResult(
  parts: AsyncParts,
  exchange: Exchange,
  id: string,
  checkAccess: CheckAccess,
): Promise<void> {
  const entry = await readEntry(parts, id);
  checkAccess(entry);
  const stored = await readStoredResult(parts.ledger, id, entry);
  exchange
    .writeHead(200, {
      "Content-Type": headerValue(stored.headers, "content-type") ?? "application/octet-stream",
      "Content-Length": String(stored.body.byteLength),
      "X-Content-Type-Options": "nosniff",
      [header.callId]: id,
      [header.functionStatus]: String(stored.status),
      [header.durationSeconds]: (stored.duration / 1_000).toFixed(6),
    })
    .end(stored.body);
}

/**
 * The stored output of a call.
 * @throws PlatformError `call_not_finished`, `result_not_found`
 */
export async function readStoredResult(
  ledger: Pick<CallLedger, "now" | "readResult">,
  id: string,
  entry: CallEntry,
): Promise<StoredResult> {
  if (entry.ended === null) {
    throw new PlatformError("call_not_finished", `Cannot read the result of call "${id}": it is ${entry.state}`);
  }
  const { result } = entry;
  const stored =
    result?.stored === true && ledger.now() < entry.ended + result.ttl
      ? await ledger.readResult(id, result.run)
      : undefined;
  if (stored === undefined) {
    throw new PlatformError("result_not_found", `Cannot read the result of call "${id}": ${missing(entry)}`);
  }
  return stored;
}

function missing(entry: CallEntry): string {
  if (entry.state === "cancelled") return "it was cancelled";
  if (entry.result === null) return "the function gave none";
  if (entry.result.ttl === 0) return "results of this function are not kept";
  return entry.result.stored ? "it has expired" : "it was too long to keep";
}

async function readEntry(parts: AsyncParts, id: string): Promise<CallEntry> {
  const found = await parts.ledger.read(id);
  if (found === undefined)
    throw new PlatformError("call_not_found", `Cannot show call "${id}": it is unknown or expired`);
  return found.entry;
}

/** Resolves when the call's end is signalled, the client leaves, or `timeout` milliseconds are over. */
async function endOf(
  parts: AsyncParts,
  exchange: Exchange,
  id: string,
  timeout: number,
  alreadyOver: () => Promise<boolean>,
): Promise<void> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  // The watch begins before the read, so that an end between the two is not missed.
  const unwatch = parts.ends.watch(id, wake);
  const timer = setTimeout(wake, timeout);
  exchange.once("close", wake);
  try {
    if (!(await alreadyOver())) await woken;
  } finally {
    clearTimeout(timer);
    exchange.off("close", wake);
    unwatch();
  }
}

function waitOf(query: string): number {
  const values = new URLSearchParams(query).getAll("wait");
  const text = values.at(-1);
  if (text === undefined || text === "") return 0;
  const wait = parseDuration(text);
  if (wait === undefined) {
    throw new PlatformError(
      "validation_failed",
      `Cannot wait "${text.slice(0, 50)}": expected a duration such as 30s, at most ${formatDuration(longestWait)}`,
    );
  }
  return Math.min(wait, longestWait);
}
