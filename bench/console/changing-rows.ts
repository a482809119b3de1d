import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsActivity } from "../../runtime/adapters/nats/stores/nats-activity.ts";
import { EventClient } from "../../test/support/watch/event-client.ts";

const every = 1_000;
/** Milliseconds until rates follow their counts, and over which changes are counted. */
const [settling, counted] = [3_000, 5_000];

/** Reports other numbers of calls of these functions each second, as a gateway does, until it is disposed. */
export function changeRows(link: NatsLink, functions: readonly string[]): Disposable {
  const activity = new NatsActivity(link);
  let number = 0;
  const report = (): void => {
    number += 1;
    const deltas = functions.map((key) => ({
      function: key,
      finished: randomInt(100, 5_000),
      failed: randomInt(50),
      inFlight: randomInt(50),
    }));
    activity.publish({ source: `bench-${process.pid}`, number, deltas });
  };
  report();
  const timer = setInterval(report, every);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** @throws Error unless a page is told of `perSecond` changed rows each second, within a tenth */
export async function expectChangingRows(port: number, authorization: string, perSecond: number): Promise<void> {
  using client = (await EventClient.open(port, "functions", { authorization })).read();
  await client.until("functions", ({ more }) => !more);
  await pause(settling);
  const before = client.of("functions").length;
  await pause(counted);
  // One comes each second: a machine that is busy makes some of them late.
  const told = client.of("functions").slice(before);
  const mean = told.reduce((sum, { rows }) => sum + rows.length, 0) / told.length;
  if (!(Math.abs(mean - perSecond) <= perSecond / 10))
    throw new Error(`Cannot measure with ${perSecond} changing rows a second: there were ${mean.toFixed(0)}`);
}
