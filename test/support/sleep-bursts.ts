import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import { deployDrowsy } from "./drowsy-function.ts";
import { eventually } from "./eventually.ts";
import type { Platform } from "./platform.ts";
import { openScalingMachine } from "./scaling-machine.ts";

export interface SleepBurstsOptions {
  readonly calls: number;
  /** Numbers from 0 to 1, for the gaps. */
  readonly random: () => number;
}

/** Outcomes of bursts of calls around the moments in which their function is scaled to zero. */
export interface SleepBursts {
  readonly answered: number;
  /** Other responses, and errors. */
  readonly failures: readonly string[];
  /** How often the function was scaled to zero. */
  readonly sleeps: number;
}

const burst = 200;
const idle = 300;

/**
 * Bursts of 200 calls of one function with an idle limit of 300 ms: half of them after gaps around that limit, half
 * within 400 ms of the moment in which it was scaled to zero, while its replica leaves, drains and stops.
 */
export async function sleepBursts(platform: Platform, { calls, random }: SleepBurstsOptions): Promise<SleepBursts> {
  await using machine = await openScalingMachine(platform, { idle });
  const agent = new Agent({ connections: 50, pipelining: 1 });
  const failures: string[] = [];
  let answered = 0;
  const url = await deployDrowsy(platform);
  const call = async (): Promise<void> => {
    try {
      const { statusCode, body } = await request(url, { dispatcher: agent, signal: AbortSignal.timeout(20_000) });
      const text = await body.text();
      if (statusCode === 200 && text === "hello") answered += 1;
      else failures.push(`${statusCode} ${text}`);
    } catch (err) {
      failures.push(err instanceof Error ? `${err.name}: ${err.message}` : String(err));
    }
  };
  for (let sent = 0; sent < calls; sent += burst) {
    if ((sent / burst) % 2 === 0) await pause(random() * 2 * idle);
    else {
      const before = machine.sleeps;
      const isScaledToZero = () => machine.sleeps > before || machine.replicas("drowsy") === 0;
      await eventually(isScaledToZero, { every: 1, what: "the function to sleep" });
      await pause(random() * 400);
    }
    await Promise.all(Array.from({ length: Math.min(burst, calls - sent) }, call));
  }
  await agent.destroy();
  return { answered, failures, sleeps: machine.sleeps };
}
