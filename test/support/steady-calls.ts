import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import { lateIsNotLost } from "./load.ts";

export interface SteadyCallsOptions {
  /** Each call goes to the next of them. */
  readonly urls: readonly string[];
  /** Calls a second. */
  readonly rate: number;
  /** Each call over a connection of its own, as from clients that come for the first time. */
  readonly newConnections?: boolean;
  /** Milliseconds after which a call counts as one without an answer (30 000): late is not lost. */
  readonly timeout?: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Most calls under way at a time: when the machine bears no more, the later ones are due later. No limit when absent. */
  readonly atOnce?: number;
  /** Hears of each call answered 200. */
  readonly onAnswer?: () => void;
}

/** What became of calls at a constant arrival rate. */
export interface SteadyCalls {
  /** By URL: milliseconds from when a call was due to the end of its answer, so that a stall counts for all it held up; sorted. */
  readonly latencies: ReadonlyMap<string, readonly number[]>;
  /** A line for each kind of answer that was not 200: how many there were, and when, in seconds since the begin. */
  readonly failures: readonly string[];
}

/** Calls, whatever becomes of it, until it is ended; resolves after the last answer. */
export async function steadyCalls(options: SteadyCallsOptions): Promise<SteadyCalls> {
  const { urls, rate, signal, atOnce = Number.POSITIVE_INFINITY, onAnswer, newConnections = false } = options;
  const { timeout = lateIsNotLost } = options;
  const agent = new Agent({ connections: 32, pipelining: newConnections ? 0 : 1 });
  const latencies = new Map<string, number[]>(urls.map((url) => [url, []]));
  const failures = new Map<string, Failed>();
  const began = performance.now();
  const failed = (what: string): void => {
    const at = (performance.now() - began) / 1_000;
    const known = failures.get(what);
    failures.set(what, { count: (known?.count ?? 0) + 1, first: known?.first ?? at, last: at });
  };
  const open = new Set<Promise<void>>();
  let begin = performance.now();

  for (let sequence = 0; !signal.aborted; sequence += 1) {
    let due = begin + (sequence * 1_000) / rate;
    if (open.size >= atOnce) {
      await Promise.race(open);
      const late = Math.max(0, performance.now() - due);
      begin += late;
      due += late;
    }
    if (due > performance.now() + 1)
      await pause(Math.max(1, due - performance.now()), undefined, { signal }).catch(() => undefined);
    const url = urls[sequence % urls.length];
    if (url === undefined || signal.aborted) break;
    const call = request(url, { dispatcher: agent, signal: AbortSignal.timeout(timeout) })
      .then(async ({ statusCode, body }) => {
        const text = await body.text();
        if (statusCode === 200) {
          latencies.get(url)?.push(performance.now() - due);
          onAnswer?.();
        } else failed(`${statusCode} ${text.slice(0, 200)}`);
      })
      .catch((err: unknown) => failed(err instanceof Error ? err.message : String(err)))
      .finally(() => open.delete(call));
    open.add(call);
  }
  await Promise.all(open);
  await agent.destroy();
  for (const each of latencies.values()) each.sort((a, b) => a - b);
  const lines = [...failures].map(
    ([what, { count, first, last }]) => `${count} × ${what} (${first.toFixed(1)} s to ${last.toFixed(1)} s)`,
  );
  return { latencies, failures: lines };
}

interface Failed {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** The same for a while, in milliseconds. */
export async function steadyCallsFor(
  options: Omit<SteadyCallsOptions, "signal">,
  milliseconds: number,
): Promise<SteadyCalls> {
  return steadyCalls({ ...options, signal: AbortSignal.timeout(milliseconds) });
}
