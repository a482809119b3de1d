import { setTimeout as pause } from "node:timers/promises";

import type { CallPageView } from "../../runtime/api/schemas/history/call-page.ts";
import type { CallSummary } from "../../runtime/api/schemas/history/call-summary.ts";

/** Replies to `GET` of a path. */
export type GetPage = (path: string) => Promise<{ readonly status: number; readonly text: string }>;

const mostCalls = 500;
const unavailable = 503;
const retryPause = 200;

/**
 * The pages of `GET /system/calls`, one after the other to the last. A page that cannot be had now is asked for again
 * until `signal` aborts.
 * @throws Error when a call comes twice or out of order, or for any other status
 */
export async function* callPages(
  get: GetPage,
  { limit = mostCalls, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): AsyncGenerator<CallPageView, void> {
  const seen = new OrderOfCalls();
  let after = "";
  for (;;) {
    const { status, text } = await get(`/system/calls?limit=${limit}${after}`);
    if (status === unavailable && signal?.aborted !== true) {
      await pause(retryPause);
      continue;
    }
    if (status !== 200) throw new Error(`GET /system/calls replied ${status}: ${text}`);
    const page: CallPageView = JSON.parse(text);
    for (const item of page.items) seen.next(item);
    yield page;
    if (page.next === undefined) return;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

/** Checks that calls come newest first, and no call twice. */
class OrderOfCalls {
  #before: CallSummary | undefined;

  next(call: CallSummary): void {
    const before = this.#before;
    this.#before = call;
    if (before === undefined) return;
    const isOlder = call.acceptedAt < before.acceptedAt;
    if (isOlder || (call.acceptedAt === before.acceptedAt && call.callId < before.callId)) return;
    throw new Error(`call ${call.callId} of ${call.acceptedAt} follows ${before.callId} of ${before.acceptedAt}`);
  }
}
