import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, expect, test } from "vitest";

import { figure } from "../support/figure.ts";
import { openPowerCutDisk } from "../support/power-cut.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const cuts = 20;
const found = await openPowerCutDisk("random cuts of the power");
afterAll(() => found?.[Symbol.asyncDispose]());

/** Calls a function, and queues calls of it, until the power is cut. */
async function load({ url, authorization }: WeirProcess, accepted: string[]): Promise<void> {
  const calls = platformCalls(url, { authorization });
  const body = JSON.stringify({ service: "echo", image: "none", envProcess: "cat" });
  await calls.send("PUT", "/system/functions", { headers: { authorization }, body });
  for (;;) accepted.push(await calls.accepted("echo"));
}

test.skipIf(found === undefined)(
  `${cuts} cuts at random moments: Weir starts again and serves after each`,
  async () => {
    if (found === undefined) return;
    const disk = found;
    const start = (within: number) =>
      startWeir({
        data: join(disk.path, "data"),
        mountsOf: disk.pid,
        environment: { TMPDIR: disk.temporary },
        within,
      });
    const accepted: string[] = [];
    for (let cut = 0; cut < cuts; cut++) {
      const weir = start(120_000);
      const loading = weir.then((started) => load(started, accepted)).catch(() => undefined);
      const wait = Math.round(Math.random() * 12_000);
      await pause(wait);
      await disk.cut();
      await loading;
      await weir.then((started) => started.close()).catch(() => undefined);
    }
    const weir = await start(120_000);
    try {
      const calls = platformCalls(weir.url, { authorization: weir.authorization });
      const info = await calls.send("GET", "/system/info", { headers: { authorization: weir.authorization } });
      expect(JSON.parse(info.body.toString())).not.toHaveProperty("setAside");
      const states = await Promise.all(accepted.map(async (id) => (await calls.status(id))?.state));
      const missing = states.filter((state) => state === undefined).length;
      figure(
        "S2",
        `${cuts} cuts of the power, ${accepted.length} accepted calls, ${missing} of them lost with "interval"`,
      );
      const body = JSON.stringify({ service: "echo", image: "none", envProcess: "cat" });
      await calls.send("PUT", "/system/functions", { headers: { authorization: weir.authorization }, body });
      expect(await calls.ended(await calls.accepted("echo"))).toMatchObject({ state: "done" });
    } finally {
      await weir.close();
    }
  },
);
