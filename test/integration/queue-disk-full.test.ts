import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { compareVersions, readNatsServerVersion } from "../../runtime/adapters/nats/server/nats-server-version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "../support/eventually.ts";
import { figure, inWords } from "../support/figure.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { natsServerPath } from "../support/nats-server.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { startWeir } from "../support/weir-process.ts";

const mebibyte = 1_048_576;
/** Older brokers refuse what does not fit and continue; from this version on they store nothing until a restart. */
const firstThatSticks = "2.14.0";

test("FB8 disk full: 503 no or unknown, unready; with space the broker restarts, nothing is lost", async (context) => {
  const disk = await openSmallDisk(400 * mebibyte);
  if (disk === undefined) {
    context.skip("this user may not mount a file system");
    return;
  }
  await using mounted = disk;
  await using weir = await startWeir({
    data: join(mounted.path, "data"),
    flags: ["--doctor-period=1s", "--ack-wait=2s", "--log-level=warn"],
  });
  const version = (await readNatsServerVersion(await natsServerPath(), environment())) ?? "";
  const sticks = compareVersions(version, firstThatSticks) >= 0;
  const brokerPid = () => readFileSync(join(mounted.path, "data", "nats", "nats-server.pid"), "utf8");
  const pid = brokerPid();
  const calls = platformCalls(weir.url);
  const deployed = await calls.send("PUT", "/system/functions", {
    headers: { authorization: weir.authorization, "content-type": "application/json" },
    body: JSON.stringify({ service: "count", image: "none", envProcess: "wc -c" }),
  });
  expect(deployed.status).toBe(202);
  const body = new Uint8Array(100_000);
  const accepted: string[] = [];
  for (let call = 0; call < 10; call += 1) accepted.push(await calls.accepted("count", { body }));

  mounted.fill(500_000);
  const refusals: { readonly how: string; readonly sentence: string; readonly took: number }[] = [];
  await eventually(
    async () => {
      const began = performance.now();
      const response = await calls.queue("count", { body });
      const how = `${response.status} ${response.headers.get("x-call-queued")}`;
      const took = performance.now() - began;
      if (response.status === 202) accepted.push(response.headers.get("x-call-id") ?? "");
      else refusals.push({ how, sentence: response.body.toString(), took });
      return refusals.length >= 3;
    },
    { every: 1, what: "refusals" },
  );
  for (const { how, sentence } of refusals) {
    expect(["503 no", "503 unknown"]).toContain(how);
    expect(sentence).toMatch(/the disk of the queue is full|the queue, whose disk is full/);
  }
  figure("S10", `a full disk is told in ${refusals.map(({ took }) => inWords(took)).join(", then ")}`);
  if (sticks) {
    await eventually(
      async () => {
        const probe = await fetch(`${weir.adminUrl}/readyz`);
        const detail = await probe.text();
        return probe.status === 503 && detail.includes("broker: full");
      },
      { what: "Weir to be unready" },
    );
  }

  mounted.empty();
  const emptied = performance.now();
  const again = await eventually(
    async () => {
      const response = await calls.queue("count", { body });
      return response.status === 202 ? response.headers.get("x-call-id") : undefined;
    },
    { every: 100, what: "a call to be accepted" },
  );
  expect(performance.now() - emptied).toBeLessThan(30_000);
  for (const id of [...accepted, again]) {
    expect(await calls.ended(id, 30_000), weir.output()).toMatchObject({ state: "done" });
  }
  await eventually(async () => (await fetch(`${weir.adminUrl}/readyz`)).status === 200, {
    what: "Weir to be ready",
  });
  expect(brokerPid() !== pid).toBe(sticks);
  await weir.stop();
});
