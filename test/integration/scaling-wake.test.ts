import { afterEach, expect, test } from "vitest";

import { inWords } from "../support/figure.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { handProvider } from "../support/hand-provider.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { say } from "../support/say.ts";

const rounds = 5;
/** Polling, without a signal, would take longer even at best. `npm run bench -- P10` measures how long it takes. */
const longest = 1_000;
const callers = 20;

let platform: Platform;
let server: FunctionServer;
afterEach(async () => {
  await platform.close();
  await server.close();
});

test("callers that wait share one scale-up and continue at the signal that a replica is ready", async () => {
  let firstAt: number | undefined;
  server = await openFunctionServer((_request, response) => {
    firstAt ??= performance.now();
    response.end("ok");
  });
  platform = await openPlatform();
  await platform.deploy("drowsy", { addresses: [server.address] });
  await using provider = await handProvider(platform);
  const took: number[] = [];
  while (took.length < rounds) {
    let signalledAt = 0;
    await provider.sleep("drowsy", async (tell) => {
      signalledAt = performance.now();
      await tell([server.address]);
    });
    firstAt = undefined;
    const replies = await Promise.all(
      Array.from({ length: callers }, () => platform.calls.send("GET", "/function/drowsy")),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: callers }, () => 200));
    expect(provider.woken("drowsy")).toBe(1);
    took.push((firstAt ?? Infinity) - signalledAt);
  }
  took.sort((a, b) => a - b);
  const [least = Infinity, middle = Infinity] = [took[0], took[took.length >> 1]];
  say(`Woken after ${inWords(least)} at the least, ${inWords(middle)} in the middle`);
  expect(least).toBeLessThanOrEqual(longest);
});
