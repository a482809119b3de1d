import type { Page } from "playwright-core";

import { quantile } from "../../test/support/load.ts";
import { say } from "../tools.ts";
import { frameWorkOf, type TaskTimes, type TraceEvent } from "./frame-work.ts";

/** How smooth a page was: processor time of its main thread, milliseconds. */
export interface Smoothness {
  /** Of a frame, p95. */
  readonly work: number;
  readonly longestTask: number;
}

const categories = ["-*", "devtools.timeline", "disabled-by-default-devtools.timeline"];

/** Traces a page while `act` runs, and reports its frames. */
export async function traceSmoothness(page: Page, what: string, act: () => Promise<void>): Promise<Smoothness> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("Cannot trace a page: its browser is gone");
  await browser.startTracing(page, { categories });
  let trace: Buffer | undefined;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const { ran, took, gaps, length } = frameWorkOf(traceEvents);
  const words = ({ frames, longestTask }: TaskTimes): string =>
    `${p95Of(frames).toFixed(1)} ms a frame (p95), longest task ${longestTask.toFixed(1)} ms`;
  say(`  ${what}: main thread ran ${words(ran)}; by the clock ${words(took)}`);
  say(
    `  ${what}: ${gaps.length + 1} frames in ${(length / 1_000).toFixed(1)} s, ${p95Of(gaps).toFixed(1)} ms apart (p95)`,
  );
  return { work: p95Of(ran.frames), longestTask: ran.longestTask };
}

function p95Of(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.95,
  );
}
