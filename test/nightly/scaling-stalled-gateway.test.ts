import { Agent, request } from "undici";
import { expect, test } from "vitest";

import { deployDrowsy } from "../support/drowsy-function.ts";
import { eventually } from "../support/eventually.ts";
import { openPlatform } from "../support/platform.ts";
import { openScalingMachine } from "../support/scaling-machine.ts";

/** Longer than a busy machine takes for one round: the function must not be scaled to zero before the last reply. */
const idle = 3_000;
const calls = 50;
const rounds = 3;

test("a gateway that stalls while a replica leaves fails no call", async () => {
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
  await eventually(() => machine.replicas("drowsy") === 0, { what: "the first scale to zero" });
  platform.gateway.pause();
  for (let round = 0; round <= rounds; round += 1) {
    const replies = burst();
    // The gateway does not know that the replica leaves, and the one it knew last is gone.
    await eventually(async () => (await machine.standing()) === 0, { what: "the replica to be gone" });
    // The next scale to zero may begin as soon as the last reply is sent, before it is read here.
    let scaledToZero = false;
    const ended = machine.onSleep(() => {
      platform.gateway.pause();
      scaledToZero = true;
    });
    platform.gateway.resume();
    // From the first round on the gateway has a connection per call, to the replica and to its callers.
    expect(await replies).toEqual(whole);
    await eventually(() => scaledToZero, { every: 1, what: "the function to be scaled to zero" });
    ended();
  }
  platform.gateway.resume();
  await agent.destroy();
});
