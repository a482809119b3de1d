import { Agent, request } from "undici";
import { expect, test } from "vitest";

import { deployDrowsy } from "../support/drowsy-function.ts";
import { eventually } from "../support/eventually.ts";
import { openPlatform } from "../support/platform.ts";
import { openScalingMachine } from "../support/scaling-machine.ts";

/** Longer than a busy machine takes for one round: the function must not sleep again before the last call is answered. */
const idle = 3_000;
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
  await eventually(() => machine.replicas("drowsy") === 0, { what: "the first sleep" });
  platform.gateway.pause();
  for (let round = 0; round <= rounds; round += 1) {
    const answers = burst();
    // The gateway has not heard that it leaves, and what it knew last is gone.
    await eventually(async () => (await machine.standing()) === 0, { what: "the replica to be gone" });
    // The next sleep may begin as soon as the last call is answered, before anybody here has read that.
    let asleep = false;
    const ended = machine.onSleep(() => {
      platform.gateway.pause();
      asleep = true;
    });
    platform.gateway.resume();
    // From the first round on it has as many connections to the replica as calls at once, and to its callers.
    expect(await answers).toEqual(whole);
    await eventually(() => asleep, { every: 1, what: "the function to sleep" });
    ended();
  }
  platform.gateway.resume();
  await agent.destroy();
});
