import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import { deployDrowsy } from "./drowsy-function.ts";
import { eventually } from "./eventually.ts";
import type { Platform } from "./platform.ts";
import { openScalingMachine } from "./scaling-machine.ts";

export interface SleepBurstsOptions {
  /** Of all functions. */
  readonly calls: number;
  /** How many functions have bursts at the same time, each in its own turn; one by default. */
  readonly functions?: number;
  /** Numbers from 0 to 1, for the gaps. */
  readonly random: () => number;
}

/** Outcomes of bursts of calls around the moments in which their function is scaled to zero. */
export interface SleepBursts {
  readonly answered: number;
  /** Other responses, and errors. */
  readonly failures: readonly string[];
  /** How often a function was scaled to zero. */
  readonly sleeps: number;
}

const burst = 200;
const idle = 300;

/**
 * Bursts of 200 calls of a function with an idle limit of 300 ms: half of them after gaps around that limit, half
 * within 400 ms of the moment in which it was scaled to zero, while its replica leaves, drains and stops.
 */
export async function sleepBursts(
  platform: Platform,
  { calls, functions = 1, random }: SleepBurstsOptions,
): Promise<SleepBursts> {
  await using machine = await openScalingMachine(platform, { idle });
  const sleeps = new Map<string, number>();
  const countSleeps = machine.onSleep((name) => sleeps.set(name, (sleeps.get(name) ?? 0) + 1));
  const sleepsOf = (name: string): number => sleeps.get(name) ?? 0;
  const agent = new Agent({ connections: 50 * functions, pipelining: 1 });
  const failures: string[] = [];
  let answered = 0;
  const call = async (url: string): Promise<void> => {
    try {
      const { statusCode, body } = await request(url, { dispatcher: agent, signal: AbortSignal.timeout(20_000) });
      const text = await body.text();
      if (statusCode === 200 && text === "hello") answered += 1;
      else failures.push(`${statusCode} ${text}`);
    } catch (err) {
      failures.push(err instanceof Error ? `${err.name}: ${err.message}` : String(err));
    }
  };
  const burstsOf = async (name: string, count: number): Promise<void> => {
    const url = await deployDrowsy(platform, name);
    for (let sent = 0; sent < count; sent += burst) {
      if ((sent / burst) % 2 === 0) await pause(random() * 2 * idle);
      else {
        const before = sleepsOf(name);
        const isScaledToZero = () => sleepsOf(name) > before || machine.replicas(name) === 0;
        await eventually(isScaledToZero, { every: 1, what: `${name} to sleep` });
        await pause(random() * 400);
      }
      await Promise.all(Array.from({ length: Math.min(burst, count - sent) }, () => call(url)));
    }
  };
  const names = Array.from({ length: functions }, (_, index) => `drowsy-${index + 1}`);
  await Promise.all(names.map((name) => burstsOf(name, calls / functions)));
  countSleeps();
  await agent.destroy();
  return { answered, failures, sleeps: machine.sleeps };
}
