import { expect, test } from "vitest";

import { callPages } from "../support/call-pages.ts";
import { damageHistory, fillHistory, listAgainAndAgain, stopHistory } from "../support/history-host-faults.ts";
import { openHistoryHost } from "../support/history-host.ts";
import { notAccepted } from "../support/load.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("FH1, FH5 on one machine the history is killed, stopped, without room, its file damaged, during calls and lists: no call fails, no list has doubles or holes", async () => {
  await using directory = await tempDirectory("history-host");
  // Where this user may not mount a file system, the rest is tried anyway.
  await using disk = await openSmallDisk(32 * 1_048_576);
  await using host = await openHistoryHost(directory.path, disk?.path);
  let running = await host.serving();
  const before = await host.load({ rate: 200, count: 500 });
  expect(notAccepted(before.sent)).toEqual([]);
  const ids = before.sent.map(({ id }) => id);
  await host.untilListed(ids);

  const stop = new AbortController();
  const load = host.load({ rate: 40, count: 100_000, signal: stop.signal });
  const lists = listAgainAndAgain(host, ids, stop.signal);
  // It is awaited in the end, if nothing fails before.
  lists.catch(() => {});
  try {
    process.kill(running.pid, "SIGKILL");
    running = await host.serving(running);
    await stopHistory(host, running, 0);
    if (disk !== undefined) await fillHistory(host, disk);
    running = await damageHistory(host, running, 0, 0.1);
    await host.untilListed(ids);
    await damageHistory(host, running, 0.4, 0.7);
    await host.untilListed(ids);
  } finally {
    stop.abort();
  }
  expect(await lists).toBeGreaterThan(2);
  const { sent } = await load;
  expect(notAccepted(sent)).toEqual([]);
  await host.untilListed(sent.map(({ id }) => id));

  // Of calls whose records are gone only the damaged file knew.
  const last = (await Array.fromAsync(callPages(host.get))).at(-1);
  expect(last?.history.gaps).toHaveLength(1);
  expect(Date.parse(last?.history.gaps[0]?.to ?? "")).toBeLessThanOrEqual(Date.now() - 120_000);
  await host.weir.stop();
});
