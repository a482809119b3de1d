import { expect, test } from "vitest";

import type { QueueStatus } from "../../../../runtime/api/schemas/queue-status.ts";
import { oldestText } from "../../../../runtime/cli/commands/queues/list.ts";
import { queueText } from "../../../../runtime/cli/commands/queues/show.ts";
import { openPretendedGateway } from "../../../support/pretended-gateway.ts";

const queue: QueueStatus = {
  name: "default",
  queued: 3,
  waiting: 2,
  running: 1,
  deadLetters: 4,
  workers: 2,
  maxInflight: 10,
  timeout: "30s",
  ackWait: "60s",
  oldestAgeSeconds: 90.4,
  limit: 1_000_000,
  why: "The only slot runs a call.\u001b[2J",
};

test.each([
  [0, ""],
  [0.4, "<1s"],
  [59.9, "59s"],
  [90.4, "1m30s"],
  [90_000, "25h"],
])("an oldest call of %d seconds is %j", (seconds, text) => {
  expect(oldestText(seconds)).toBe(text);
});

test("a queue is shown with what is in it, its limits, and why calls wait", () => {
  expect(queueText(queue).split("\n")).toEqual([
    "queue         default",
    "queued        3 of at most 1000000",
    "waiting       2 for a retry",
    "running       1",
    "oldest        1m30s",
    "dead letters  4",
    "workers       2, each runs 10 at once",
    "timeout       30s a run",
    "lease         60s",
    String.raw`why           The only slot runs a call.\u001b[2J`,
    "",
  ]);
});

test("weir queues list has why at its end", async () => {
  await using gateway = await openPretendedGateway(() => ({
    json: [queue, { ...queue, name: "idle", why: undefined }],
  }));
  const { code, stdout } = await gateway.run(["queue", "ls"]);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    "NAME     QUEUED  WAITING  RUNNING  DEAD LETTERS  WORKERS  OLDEST  WHY",
    String.raw`default       3        2        1             4        2   1m30s  The only slot runs a call.\u001b[2J`,
    "idle          3        2        1             4        2   1m30s",
    "",
  ]);
});

test.each(["..", "a/b", "A", ""])("weir queues show %j sends nothing and is exit code 2", async (name) => {
  await using gateway = await openPretendedGateway(() => ({ json: queue }));
  const { code, stdout, stderr } = await gateway.run(["queues", "show", name]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(
    `Cannot show queue "${name}": a name has a to z, 0 to 9, "_" and "-", beginning with a letter or digit, at most 63 characters\n`,
  );
  expect(gateway.requests).toEqual([]);
});
