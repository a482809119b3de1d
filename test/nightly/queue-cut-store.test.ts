import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";

test("FB2 the last file of a store cut in half while the broker is down: what is left is found and run", async () => {
  await using opened = await openFaultBench({ slots: 4 });
  const { platform } = opened;
  await platform.worker.stop();
  const ids = await Promise.all(
    Array.from({ length: 60 }, () => platform.calls.accepted("working", { body: "15".padEnd(2_000) })),
  );
  // Some are delivered to a worker that dies with the broker.
  await platform.worker.start();
  await eventually(() => opened.working.requests.length > 10, { every: 1, what: "runs" });
  platform.worker.pause();
  await platform.server.stop();
  cutLastBlock(join(platform.server.storeDirectory, "jetstream", "$G", "streams", "Q_default", "msgs"));
  await platform.server.restart();
  await platform.worker.kill();
  await platform.worker.start();

  const back = performance.now();
  await eventually(
    async () => {
      const { messages, pending, unanswered } = await platform.broker.calls();
      return messages === 0 && pending === 0 && unanswered === 0;
    },
    { every: 200, what: "an empty queue, orphans included" },
  );
  figure("S9", `an empty queue, orphans included, ${inWords(performance.now() - back)} after the broker was back`);
  const states = await Promise.all(ids.map(async (id) => (await platform.calls.status(id))?.state));
  // What was in the lost half cannot run; everything else has.
  const lost = states.filter((state) => state !== "done").length;
  expect(lost).toBeLessThan(ids.length);
  const again = await platform.calls.accepted("working", { body: "15" });
  expect((await platform.calls.ended(again)).state).toBe("done");
  const perCall = Map.groupBy(opened.working.requests, (request) => request.headers["x-call-id"]);
  const extra = [...perCall.values()].filter((runs) => runs.length > 1).length;
  expect(extra).toBeLessThanOrEqual(4);
});

/** Cuts the newest block of a stream's store in half. */
function cutLastBlock(directory: string): void {
  const blocks = readdirSync(directory).filter((name) => name.endsWith(".blk"));
  const last = blocks.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1);
  if (last === undefined) throw new Error("the stream has no block");
  const path = join(directory, last);
  truncateSync(path, Math.floor(statSync(path).size / 2));
}
