import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { inWords } from "../support/figure.ts";
import { damageHistory, fillHistory, RepeatedLists, stopHistory } from "../support/history-host-faults.ts";
import { openHistoryHost } from "../support/history-host.ts";
import { notAccepted, quantile } from "../support/load.ts";
import { residentBytes } from "../support/process-facts.ts";
import { say } from "../support/say.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const minute = 60_000;
const megabyte = 1_048_576;
const rounds = 5;

test("FH1, FH5 on one machine the history is killed 5 times, stopped for a minute, without room for one, its file damaged 5 times, during calls and lists", async () => {
  await using directory = await tempDirectory("history-host");
  // Where this user may not mount a file system, the rest is tried anyway.
  await using disk = await openSmallDisk(128 * megabyte);
  await using host = await openHistoryHost(directory.path, disk?.path);
  let running = await host.serving();
  const before = await host.load({ rate: 200, count: 4_000 });
  expect(notAccepted(before.sent)).toEqual([]);
  const ids = before.sent.map(({ id }) => id);
  await host.untilListed(ids);
  const held = residentBytes(host.weir.pid);

  const stop = new AbortController();
  const load = host.load({ rate: 40, count: 1_000_000, signal: stop.signal });
  const lists = new RepeatedLists(host, ids, stop.signal);
  try {
    for (let round = 0; round < rounds; round += 1) {
      process.kill(running.pid, "SIGKILL");
      running = await host.serving(running);
    }
    await stopHistory(host, running, minute);
    if (disk !== undefined) {
      const full = performance.now();
      const aMinute = () =>
        eventually(() => performance.now() - full > minute, { within: 2 * minute, what: "a minute" });
      await fillHistory(host, disk, async () => void (await aMinute()));
    }
    for (let round = 0; round < rounds; round += 1) {
      running = await damageHistory(host, running, round % 2 === 0 ? 0 : 0.3, round % 2 === 0 ? 0.1 : 0.7);
      await host.untilListed(ids);
      await lists.oneMore();
    }
  } finally {
    stop.abort();
  }
  await lists.done;
  const { sent, latencies } = await load;
  expect(notAccepted(sent)).toEqual([]);
  await host.untilListed(sent.map(({ id }) => id));
  say(
    `FH1: p99 of the 202 ${inWords(quantile(before.latencies, 0.99))} before, ${inWords(quantile(latencies, 0.99))} with faults`,
  );
  // Garbage is up to V8: that nothing is kept is expected of the processes of the bench, after a collection.
  const holds = residentBytes(host.weir.pid);
  say(`FH1: the host holds ${Math.round(held / megabyte)} MiB before, ${Math.round(holds / megabyte)} MiB with faults`);
  await host.weir.stop();
}, 900_000);
