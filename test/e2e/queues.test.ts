import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/process-tree.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { queueDesk } from "../support/queue-desk.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
const started: WeirProcess[] = [];
beforeEach(async () => {
  directory = await tempDirectory("queues");
});
afterEach(async () => {
  for (const weir of started.splice(0)) await weir.close();
  await directory.remove();
});

async function start(settings: string) {
  const config = join(directory.path, "weir.yaml");
  await writeFile(config, settings);
  const weir = await startWeir({ data: join(directory.path, "data"), flags: ["--config", config], within: 60_000 });
  started.push(weir);
  const calls = platformCalls(weir.url);
  const { authorization } = weir;
  const deploy = async (service: string, queue: string, envProcess: string) => {
    const body = JSON.stringify({ service, image: "none", envProcess, annotations: { "com.service.queue": queue } });
    const response = await calls.send("PUT", "/system/functions", { headers: { authorization }, body });
    expect([response.status, response.body.toString()]).toEqual([202, ""]);
  };
  return { weir, calls, deploy, desk: queueDesk({ calls, authorization }) };
}

const settings = `
edition: enterprise
ack_wait: 3s
queues:
  reports: {max_inflight: 2, replicas: 2, timeout: 5s, retry: {attempts: 1, min_wait: 100ms, max_wait: 100ms}}
  ordered: {strict: true}
`;

test("one machine runs a queue-worker for each queue of its settings", async () => {
  const { weir, calls, deploy, desk } = await start(settings);
  await deploy("report", "reports", "sleep 2");
  await deploy("broken", "reports", "false");
  await deploy("step", "ordered", "cat");

  const status = await desk.send("GET", "/system/queues");
  expect(JSON.parse(status.body.toString())).toMatchObject([
    { name: "default", workers: 1, maxInflight: 10, timeout: "30s" },
    { name: "ordered", workers: 1, maxInflight: 1 },
    { name: "reports", workers: 2, maxInflight: 2, timeout: "5s", ackWait: "3s" },
  ]);

  // Four slots: replicas × max_inflight.
  const reports: string[] = [];
  for (let n = 0; n < 5; n++) reports.push(await calls.accepted("report"));
  const busy = await desk.until(({ running }) => running === 4, "reports");
  expect(busy).toMatchObject({
    queued: 1,
    why: expect.stringContaining(
      "All 4 slots run calls: raise queues.reports.max_inflight in the settings file (now 2)",
    ),
  });
  const last = reports.at(-1) ?? "";
  expect(await calls.status(last)).toMatchObject({ state: "queued", queue: "reports", queuePosition: 1 });
  const steps: string[] = [];
  for (let n = 0; n < 5; n++) steps.push(await calls.accepted("step", { body: String(n) }));
  for (const id of steps) expect(await calls.ended(id)).toMatchObject({ state: "done", queue: "ordered" });
  const begun = await Promise.all(steps.map(async (id) => (await calls.status(id))?.attempts[0]?.startedAt ?? ""));
  expect(begun).not.toContain("");
  expect(begun).toEqual(begun.toSorted());
  for (const id of reports) expect(await calls.ended(id, 20_000)).toMatchObject({ state: "done" });

  const broken = await calls.accepted("broken");
  expect(await calls.ended(broken)).toMatchObject({ state: "failed", reason: "exhausted", retries: 1 });
  await eventually(async () => (await desk.letters("", "reports")).items.length === 1, {
    what: "the dead letter",
  });
  await deploy("broken", "reports", "cat");
  await eventually(async () => (await calls.send("POST", "/function/broken")).status === 200, {
    what: "the mended function",
  });
  expect((await desk.redrive(broken, "reports")).status).toBe(202);
  expect(await calls.ended(broken, 20_000)).toMatchObject({ state: "done" });
  expect((await desk.letters("", "reports")).items).toEqual([]);

  const metrics = await (await fetch(`${weir.adminUrl}/metrics`)).text();
  // Gateway and workers share one metrics page, which counts each run once.
  for (const [key, code, count] of [
    ["report", 200, 5],
    ["step", 200, 5],
    ["broken", 200, 2],
  ] as const) {
    const labels = `{function_name="${key}.functions",code="${code}"}`;
    expect(metrics).toContain(`gateway_function_invocation_total${labels} ${count}\n`);
    expect(metrics).toContain(`gateway_functions_seconds_count${labels} ${count}\n`);
  }
  for (const queue of ["default", "ordered", "reports"]) {
    expect(metrics).toContain(`queue_worker_messages_submitted_total{queue_name="${queue}"}`);
  }
  const below = weir.below();
  await weir.stop();
  expect(below.filter(isAlive)).toEqual([]);

  // A queue that is removed from the settings accepts no calls, and comes back as it was.
  const without = await start("edition: enterprise\n");
  const refused = await without.calls.queue("report");
  expect([refused.status, refused.body.toString()]).toEqual([
    404,
    expect.stringContaining('Cannot find queue "reports"'),
  ]);
  expect(await without.calls.status(last)).toMatchObject({ state: "done", queue: "reports" });
  await without.weir.stop();

  // A smaller edition keeps what exists, and names at its start the functions that exceed it.
  const smaller = await start("edition: pro\n");
  expect(smaller.weir.output()).toMatch(/functions ask for more than the edition allows/);
  for (const name of ["broken", "report", "step"]) expect(smaller.weir.output()).toContain(`${name}.functions (queue`);
  await smaller.weir.stop();
  const again = await start(settings);
  expect(await again.calls.ended(await again.calls.accepted("report"), 20_000)).toMatchObject({ state: "done" });
  await again.weir.stop();
});

test("by default, a slow call does not delay the quick ones behind it", async () => {
  const { weir, calls, deploy } = await start("");
  await deploy("nap", "default", "sleep 20");
  await deploy("quick", "default", "cat");
  const nap = await calls.accepted("nap");
  await calls.until(nap, ["running"], 20_000);

  const quick: string[] = [];
  for (let n = 0; n < 5; n++) quick.push(await calls.accepted("quick", { body: String(n) }));
  for (const id of quick) expect(await calls.ended(id, 15_000)).toMatchObject({ state: "done", queue: "default" });
  expect(await calls.status(nap)).toMatchObject({ state: "running" });

  expect((await calls.cancel(nap)).status).toBe(202);
  await weir.stop();
});
