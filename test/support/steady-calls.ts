import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import { lateIsNotLost } from "./load.ts";

export interface SteadyCallsOptions {
  /** Each call goes to the next one. */
  readonly urls: readonly string[];
  /** Calls per second. */
  readonly rate: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each call uses a new connection, as those of first-time clients do. */
  readonly newConnections?: boolean;
  /** Milliseconds after which a call counts as one without a response (30 000): late is not lost. */
  readonly timeout?: number;
  /** Ends the calls. */
  readonly signal: AbortSignal;
  /** Maximum calls in flight: if the machine cannot keep up, later calls become due later. No limit by default. */
  readonly atOnce?: number;
  /** Called for each response with status 200. */
  readonly onAnswer?: () => void;
}

/** Outcomes of calls at a constant arrival rate. */
export interface SteadyCalls {
  /** By URL: milliseconds from a call's due time to its response's end, sorted. A stall counts for all it delays. */
  readonly latencies: ReadonlyMap<string, readonly number[]>;
  /** A line for each kind of failure: how often it occurred, and when, in seconds since the start. */
  readonly failures: readonly string[];
}

/** Calls until `signal` aborts, even if calls fail; resolves after the last response. */
export async function steadyCalls(options: SteadyCallsOptions): Promise<SteadyCalls> {
  const { urls, rate, signal, atOnce = Number.POSITIVE_INFINITY, onAnswer, newConnections = false } = options;
  const { headers = {} } = options;
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
    const call = request(url, { dispatcher: agent, headers, signal: AbortSignal.timeout(timeout) })
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

/** The same for so many milliseconds. */
export async function steadyCallsFor(
  options: Omit<SteadyCallsOptions, "signal">,
  milliseconds: number,
): Promise<SteadyCalls> {
  return steadyCalls({ ...options, signal: AbortSignal.timeout(milliseconds) });
}
