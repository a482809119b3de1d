import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";
import { expect, test } from "vitest";

import { deployDrowsy } from "../support/drowsy-function.ts";
import { eventually } from "../support/eventually.ts";
import { openPlatform } from "../support/platform.ts";
import { openScalingMachine } from "../support/scaling-machine.ts";

const idle = 300;
/** Longer than the provider waits between the word that a replica leaves and its stop. */
const stall = 500;
const calls = 50;
const rounds = 3;

test("a gateway that stands still while a replica leaves has no call fail", async () => {
  await using platform = await openPlatform();
  await using machine = await openScalingMachine(platform, { idle });
  const agent = new Agent({ connections: calls, pipelining: 1 });
  const url = await deployDrowsy(platform);
  const burst = async (): Promise<string[]> =>
    Promise.all(
      Array.from({ length: calls }, async () => {
        const { statusCode, body } = await request(url, { dispatcher: agent });
        return `${statusCode} ${await body.text()}`;
      }),
    );
  const whole = Array.from({ length: calls }, () => "200 hello");
  // It has as many connections to the replica as calls at once, and to its callers.
  expect(await burst()).toEqual(whole);
  for (let round = 1; round <= rounds; round += 1) {
    const sleeps = machine.sleeps;
    const ended = machine.onSleep(() => platform.gateway.pause());
    await eventually(() => machine.sleeps > sleeps, { every: 1, what: "the function to sleep" });
    ended();
    const answers = burst();
    await pause(stall);
    platform.gateway.resume();
    expect(await answers).toEqual(whole);
  }
  await agent.destroy();
});
