import { randomUUID } from "node:crypto";

import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import { acceptedEntry } from "../../runtime/core/calls/call-transitions.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import type { QueuedCallback } from "../../runtime/core/ports/callback-queue.ts";
import type { QueueDeclaration } from "../../runtime/core/ports/queue-catalog.ts";

/** A call with every field that a port must keep, and a new id. */
export function sampleCall(over: Partial<QueuedCall> = {}): QueuedCall {
  return {
    id: randomUUID(),
    queue: "default",
    function: { namespace: "functions", name: "echo" },
    start: 1_790_000_000_123_000_000n,
    depth: 0,
    method: "POST",
    path: "/a%2Fb",
    query: "x=1&y",
    callbackUrl: "https://example.com/done?k=v",
    parentId: undefined,
    headers: ["Content-Type", "text/plain", "X-Word", "na\u00efve \u20ac", "X-Word", ""],
    body: Buffer.from([0, 255, 13, 10, 128]),
    ...over,
  };
}

/** The record of a call that was just accepted. */
export function sampleEntry(over: Partial<CallEntry> = {}, call: QueuedCall = sampleCall()): CallEntry {
  return { ...acceptedEntry(call, { digest: "digest", maxRetries: 10 }), expires: Date.now() + 60_000, ...over };
}

/** A callback of a new call. */
export function sampleCallback(over: Partial<QueuedCallback> = {}): QueuedCallback {
  return {
    id: randomUUID(),
    run: 2,
    redrives: 0,
    queue: "default",
    function: { namespace: "functions", name: "echo" },
    url: "https://example.com/done?k=v",
    depth: 3,
    headers: ["Content-Type", "text/plain", "X-Word", "na\u00efve"],
    ...over,
  };
}

export function sampleQueue(over: Partial<QueueDeclaration> = {}): QueueDeclaration {
  return {
    name: "default",
    replicas: 1,
    maxInflight: 1,
    timeout: 30_000,
    ackWait: 60_000,
    maxLength: 1_000,
    strict: false,
    retry: { attempts: 10, codes: [429, 500], minWait: 10_000, maxWait: 120_000 },
    ...over,
  };
}

/** What a port returned, comparable: its body as a list of bytes. */
export function plain(value: { readonly body: Uint8Array }): unknown {
  return { ...value, body: [...value.body] };
}

/** Monotonic milliseconds three seconds from now. */
export function soon(): number {
  return performance.now() + 3_000;
}

/** `inner` with some of its methods replaced. */
export function ledgerWith(inner: CallLedger, over: Partial<CallLedger>): CallLedger {
  return {
    create: (id, entry, until) => inner.create(id, entry, until),
    read: (id) => inner.read(id),
    update: (id, entry, revision) => inner.update(id, entry, revision),
    fill: () => inner.fill(),
    now: () => inner.now(),
    withdraw: (id, revision) => inner.withdraw(id, revision),
    putResult: (id, run, result, ttl) => inner.putResult(id, run, result, ttl),
    readResult: (id, run) => inner.readResult(id, run),
    removeResult: (id, run) => inner.removeResult(id, run),
    ...over,
  };
}
