import { setTimeout as pause } from "node:timers/promises";

import { request, type Agent } from "undici";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { dueTimes } from "./load-shape.ts";
import type { LoadedFunction } from "./scenario.ts";
import type { LoadCall } from "./scaling-run.ts";
import { preciseNow } from "../../test/support/precise-now.ts";

export interface ShapedLoadOptions {
  /** Base address of the gateway. */
  readonly url: string;
  readonly agent: Agent;
  readonly seconds: number;
  /** `performance.now()` at the beginning of the run. */
  readonly begin: number;
}

/** Longest wait for a response, or for the end of a queued call; milliseconds. */
const timeout = 30_000;

/**
 * Calls the function according to its shape, each call at its due time whether or not earlier ones have ended; resolves
 * once all calls, queued ones too, have ended.
 */
export async function sendShapedLoad(loaded: LoadedFunction, options: ShapedLoadOptions): Promise<readonly LoadCall[]> {
  const calls: Promise<LoadCall>[] = [];
  for (const due of dueTimes(loaded.shape, options.seconds)) {
    const wait = options.begin + due - performance.now();
    if (wait > 1) await pause(wait);
    calls.push(loaded.queued ? queue(loaded.name, due, options) : call(loaded.name, due, options));
  }
  return (await Promise.all(calls)).sort((a, b) => a.begin - b.begin);
}

async function call(name: string, due: number, options: ShapedLoadOptions): Promise<LoadCall> {
  const { url, agent } = options;
  const sent = sinceBegin(options);
  try {
    const response = await request(`${url}/function/${name}`, {
      dispatcher: agent,
      signal: AbortSignal.timeout(timeout),
    });
    const text = await response.body.text();
    const { "x-start-time": arrived, "x-duration-seconds": took } = response.headers;
    const begin = sinceBegin(options, Number(arrived) / 1e6);
    const times = { due, begin, end: begin + Number(took) * 1_000, latency: sinceBegin(options) - due };
    const good = response.statusCode === 200 && text === "ok";
    return good ? times : { ...times, failure: `${response.statusCode} ${text.trim()}` };
  } catch (err) {
    return failed(due, sent, options, err);
  }
}

/** The call record says when the call was accepted and when it was done. */
async function queue(name: string, due: number, options: ShapedLoadOptions): Promise<LoadCall> {
  const { url, agent } = options;
  const sent = sinceBegin(options);
  try {
    const signal = AbortSignal.timeout(timeout);
    const response = await request(`${url}/async-function/${name}`, { method: "POST", dispatcher: agent, signal });
    const text = await response.body.text();
    if (response.statusCode !== 202) throw new Error(`${response.statusCode} ${text.trim()}`);
    const record = await endOf(`${url}/async-function/${String(response.headers["x-call-id"])}?wait=20s`, agent);
    const [begin, end] = [record.acceptedAt, record.endedAt ?? ""].map((time) => sinceBegin(options, Date.parse(time)));
    if (begin === undefined || end === undefined) throw new Error("no times in its record");
    const times = { due, begin, end, latency: end - due };
    if (record.state === "done" && record.retries === 0) return times;
    return { ...times, failure: `${record.state} after ${record.retries} retries` };
  } catch (err) {
    return failed(due, sent, options, err);
  }
}

function failed(due: number, begin: number, options: ShapedLoadOptions, err: unknown): LoadCall {
  const end = sinceBegin(options);
  return { due, begin, end, latency: end - due, failure: String(err) };
}

/** Converts Unix milliseconds; all processes use the clock of this machine. */
function sinceBegin({ begin }: ShapedLoadOptions, at = preciseNow()): number {
  return at - performance.timeOrigin - begin;
}

async function endOf(url: string, dispatcher: Agent): Promise<CallRecord> {
  for (const until = performance.now() + timeout; ;) {
    const { body } = await request(url, { dispatcher, signal: AbortSignal.timeout(timeout) });
    const record = (await body.json()) as CallRecord;
    if (record.endedAt !== undefined) return record;
    if (performance.now() > until) throw new Error(`still ${record.state} after ${timeout} ms`);
  }
}
