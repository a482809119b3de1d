import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import type { AnswerClass, LedgerWriter, Sent } from "./ledger.ts";
import { preciseNow } from "./precise-now.ts";

export interface LoadOptions {
  /** Base address of the gateway, without a path. */
  readonly gateway: string;
  /** `name` or `name.namespace`. */
  readonly functionName: string;
  /** Calls per second, sent when they are due even if earlier ones are still in flight. */
  readonly rate: number;
  readonly count: number;
  readonly callbackUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: (sequence: number) => string | Uint8Array;
  /** Timeout of a call, milliseconds (`lateIsNotLost`). */
  readonly timeout?: number;
  /** Maximum calls in flight (1 000). */
  readonly maxInFlight?: number;
  /** Calls due beyond it are dropped and counted (the default), or sent late where the number matters, not the rate. */
  readonly beyond?: "dropped" | "late";
  readonly ledger?: LedgerWriter;
  /** Called with the id of each accepted call. */
  readonly onAccepted?: (id: string) => void;
  /** A new connection for each call, so that a load balancer routes each one. */
  readonly freshConnections?: boolean;
  /** Ends the load early. */
  readonly signal?: AbortSignal;
}

export interface LoadSummary {
  readonly sent: readonly Sent[];
  /** Due, but not sent, as too many were in flight. */
  readonly dropped: number;
  /** Milliseconds from a call's due time to its 202, sorted. A stall thus counts for all calls that it delayed. */
  readonly latencies: readonly number[];
}

/** Sends calls to `/async-function/` at a constant rate, each with a new id; resolves after the last response. */
export async function sendLoad(options: LoadOptions): Promise<LoadSummary> {
  const agent = new Agent({ connections: 64, pipelining: options.freshConnections === true ? 0 : 1 });
  const sent: Sent[] = [];
  const latencies: number[] = [];
  const open = new Set<Promise<void>>();
  const begin = performance.now();
  const limit = options.maxInFlight ?? 1_000;
  const isAborted = (): boolean => options.signal?.aborted ?? false;
  const untilDue = options.signal === undefined ? {} : { signal: options.signal };
  let dropped = 0;

  for (let sequence = 0; sequence < options.count; sequence += 1) {
    const due = begin + (sequence * 1_000) / options.rate;
    const wait = due - performance.now();
    if (wait > 1) await pause(wait, undefined, untilDue).catch(() => undefined);
    if (options.beyond === "late" && open.size >= limit) await Promise.race(open);
    if (isAborted()) break;
    if (open.size >= limit) {
      dropped += 1;
      continue;
    }
    const call = send(options, agent, sequence).then((entry) => {
      open.delete(call);
      sent.push(entry);
      options.ledger?.append(entry);
      if (entry.class === "accepted") options.onAccepted?.(entry.id);
      if (entry.class === "accepted") latencies.push(performance.now() - due);
    });
    open.add(call);
  }
  await Promise.all(open);
  await agent.destroy();
  return { sent, dropped, latencies: latencies.toSorted((a, b) => a - b) };
}

/**
 * Timeout of calls of which none may fail, milliseconds: a disk or a processor that is busy for seconds delays
 * responses, and only one that never comes is lost.
 */
export const lateIsNotLost = 30_000;

/** Describes the calls that were not accepted: each kind of outcome, how often it occurred and over what time. */
export function notAccepted(sent: readonly Sent[]): readonly string[] {
  const others = sent.filter((each) => each.class !== "accepted");
  const kinds = Map.groupBy(others, (each) => `${each.class}: ${each.status ?? each.error ?? "?"}`);
  return Array.from(kinds, ([kind, calls]) => {
    const times = calls.flatMap(({ sentAt, answeredAt }) => [sentAt, answeredAt]);
    return `${kind}, ${calls.length} times within ${Math.round(Math.max(...times) - Math.min(...times))} ms`;
  });
}

/** The value below which the share `q` (0 to 1) of `sorted` lies; NaN if it is empty. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** What a sender may conclude: 202 accepted; 4xx, or 503 if `queued` is `no`, refused; all else unknown. */
export function classifyAnswer(status: number, queued: string | undefined): AnswerClass {
  if (status === 202) return "accepted";
  if (status >= 400 && status < 500) return "refused";
  return status === 503 && queued === "no" ? "refused" : "unknown";
}

async function send(options: LoadOptions, agent: Agent, sequence: number): Promise<Sent> {
  const id = randomUUID();
  const sentAt = preciseNow();
  const facts = { kind: "sent", id, sequence, sentAt, callback: options.callbackUrl !== undefined } as const;
  try {
    const response = await request(`${options.gateway}/async-function/${options.functionName}`, {
      method: "POST",
      dispatcher: agent,
      signal: AbortSignal.timeout(options.timeout ?? lateIsNotLost),
      headers: {
        ...options.headers,
        "X-Call-Id": id,
        ...(options.callbackUrl === undefined ? {} : { "X-Callback-Url": options.callbackUrl }),
      },
      body: options.body?.(sequence) ?? "",
    });
    const answeredAt = preciseNow();
    await response.body.dump();
    const queued = response.headers["x-call-queued"];
    const text = Array.isArray(queued) ? queued[0] : queued;
    return { ...facts, class: classifyAnswer(response.statusCode, text), answeredAt, status: response.statusCode };
  } catch (err) {
    const code = err instanceof Error && "code" in err ? String(err.code) : String(err);
    return { ...facts, class: code === "ECONNREFUSED" ? "refused" : "unknown", answeredAt: preciseNow(), error: code };
  }
}
