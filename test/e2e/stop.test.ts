import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { isAlive } from "../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;
beforeEach(async () => {
  directory = await tempDirectory("stop");
  weir = await startWeir({ data: directory.path, within: 60_000 });
});
afterEach(async () => {
  await weir?.close();
  await directory.remove();
});

async function deploy(service: string, envProcess: string): Promise<void> {
  const body = JSON.stringify({ service, image: "none", envProcess });
  const headers = { authorization: weir.authorization };
  expect((await platformCalls(weir.url).send("PUT", "/system/functions", { headers, body })).status).toBe(202);
}

/** Statuses of two calls of a function that sleeps; resolves once they and a queued call are in flight. */
async function startThree(seconds: number): Promise<readonly Promise<number>[]> {
  const calls = platformCalls(weir.url);
  await deploy("nap", `sleep ${seconds}`);
  const id = await calls.accepted("nap");
  await calls.until(id, ["running"], 20_000);
  const statuses = [1, 2].map(async () => {
    const { status } = await fetch(`${weir.url}/function/nap`);
    return status;
  });
  for (const status of statuses) status.catch(() => {});
  const metrics = async () => (await fetch(`${weir.adminUrl}/metrics`)).text();
  await eventually(
    async () => /^gateway_function_invocation_inflight\{function_name="nap\.functions"\} 3$/m.test(await metrics()),
    {
      what: "two calls and a queued run in flight",
    },
  );
  return statuses;
}

test("Ctrl-C reports what it waits for, and waits for it", async () => {
  const statuses = await startThree(10);
  await weir.stop();
  expect(weir.output()).toContain("\nwaiting for 2 calls, 1 queued run; Ctrl-C again ends them now\n");
  expect(await Promise.all(statuses)).toEqual([200, 200]);
});

test("a second Ctrl-C ends them at once, and leaves nothing", async () => {
  const statuses = await startThree(300);
  const below = weir.below();
  process.kill(weir.pid, "SIGINT");
  await eventually(() => weir.output().includes("waiting for 2 calls, 1 queued run"), { what: "the notice" });
  // An immediate second SIGINT counts as the terminal's own, passed on by npm.
  const exit = await eventually(
    () => {
      if (weir.exit() === undefined) process.kill(weir.pid, "SIGINT");
      return weir.exit();
    },
    { within: 20_000, what: "Weir to end" },
  );
  expect(exit).toEqual({ code: 130, signal: null });
  expect(below.filter(isAlive)).toEqual([]);
  expect(await readdir(directory.path)).not.toContain("lock");
  expect(existsSync(join(directory.path, "run", "run", "local.json"))).toBe(false);
  // Aborted with the function, or with the gateway.
  for (const status of statuses) expect(await status.catch(() => 502)).toBeGreaterThanOrEqual(500);
});
