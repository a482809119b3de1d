import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";

import { afterAll, afterEach, expect, test } from "vitest";

import { openPowerCutDisk, type PowerCutDisk } from "../support/power-cut.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const found = await openPowerCutDisk("cuts of the power");
const started = new Set<WeirProcess>();

afterEach(async () => {
  for (const weir of started) await weir.close();
  started.clear();
});
afterAll(() => found?.[Symbol.asyncDispose]());

function disk(): PowerCutDisk {
  if (found === undefined) throw new Error("Cannot cut the power: there is no disk");
  return found;
}

/** Starts Weir in directory `name` of the disk, with these lines in its settings. */
async function start(name: string, settings = "", within = 60_000): Promise<WeirProcess> {
  const config = disk().seen(`${name}.yaml`);
  await writeFile(config, `edition: enterprise\n${settings}`);
  const weir = await startWeir({
    data: join(disk().path, name),
    flags: ["--config", join(disk().path, `${name}.yaml`)],
    mountsOf: disk().pid,
    environment: { TMPDIR: disk().temporary },
    within,
  });
  started.add(weir);
  return weir;
}

function callsOf({ url, authorization }: WeirProcess) {
  return platformCalls(url, { authorization });
}

/** Sends a request of the REST API, which must be accepted. */
async function send(weir: WeirProcess, method: string, path: string, body?: object): Promise<string> {
  const headers = { authorization: weir.authorization };
  const answer = await callsOf(weir).send(method, path, {
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = answer.body.toString();
  expect([answer.status < 300, text]).toEqual([true, text]);
  return text;
}

async function deploy(weir: WeirProcess, service: string, envProcess: string, more: object = {}): Promise<void> {
  await send(weir, "PUT", "/system/functions", { service, image: "none", envProcess, ...more });
}

const inQueue = (queue: string) => ({ annotations: { "com.service.queue": queue } });

/** Deploys a function, calls it, and queues a call of it that ends. */
async function expectToServe(weir: WeirProcess, queue = "default"): Promise<void> {
  const calls = callsOf(weir);
  await deploy(weir, "echo", "cat", inQueue(queue));
  const answer = await calls.send("POST", "/function/echo", { body: "hello" });
  expect([answer.status, answer.body.toString()]).toEqual([200, "hello"]);
  expect(await calls.ended(await calls.accepted("echo"))).toMatchObject({ state: "done" });
}

async function stop(weir: WeirProcess): Promise<void> {
  await weir.stop();
  started.delete(weir);
}

test.skipIf(found === undefined)(
  "a cut at any moment after the first start: Weir starts again and serves",
  async () => {
    // Three first starts on one disk: the cut comes 10 s, 3 s and 1 s after they began.
    const begun: Promise<unknown>[] = [];
    for (const [name, wait] of [
      ["ten", 7_000],
      ["three", 2_000],
      ["one", 1_000],
    ] as const) {
      begun.push(start(name).catch(() => undefined));
      await pause(wait);
    }
    await disk().cut();
    await Promise.all(begun);
    for (const name of ["ten", "three", "one"]) {
      const weir = await start(name);
      await expectToServe(weir);
      await stop(weir);
    }
  },
);

const oneQueue = "queues:\n  mail: {max_inflight: 1}\n";
const twoQueues = `${oneQueue}  reports: {max_inflight: 1}\n`;

test.skipIf(found === undefined)(
  "a cut after a new queue loses neither queue, and no call of the old one",
  async () => {
    let weir = await start("queues", oneQueue);
    await deploy(weir, "nap", "sleep 600", inQueue("mail"));
    const calls = callsOf(weir);
    const ids = [await calls.accepted("nap"), await calls.accepted("nap")];
    await calls.until(ids[0] ?? "", ["running"]);
    // What is newer than about a second may be lost: this is an old installation.
    disk().sync();
    await disk().cut();

    for (const wait of [0, 8_000]) {
      weir = await start("queues", wait === 0 ? twoQueues : `${twoQueues}  late: {max_inflight: 1}\n`);
      await deploy(weir, "echo", "cat", inQueue("reports"));
      await callsOf(weir).accepted("echo");
      await pause(wait);
      await disk().cut();
    }

    weir = await start("queues", twoQueues);
    for (const id of ids) expect(["queued", "running"]).toContain((await callsOf(weir).status(id))?.state);
    expect(JSON.parse(await send(weir, "GET", "/system/info"))).not.toHaveProperty("setAside");
    await expectToServe(weir, "reports");
  },
);

// The call may be cut in its run, and is then run again after its lease.
const always = "durability: always\nack_wait: 3s\n";

test.skipIf(found === undefined)("what was answered with durability always survives a cut right after it", async () => {
  let weir = await start("always", always);
  await send(weir, "POST", "/system/namespaces", { name: "shop" });
  await send(weir, "POST", "/system/secrets", { name: "token", namespace: "shop", value: "s3cret" });
  await deploy(weir, "read", "cat /var/openfaas/secrets/token", { namespace: "shop", secrets: ["token"] });
  const id = await callsOf(weir).accepted("read.shop");
  await disk().cut();

  expect(await readFile(disk().seen("always", "secrets", "shop", "token"), "utf8")).toBe("s3cret");
  weir = await start("always", always);
  expect(await callsOf(weir).ended(id)).toMatchObject({ state: "done", functionName: "read", namespace: "shop" });
});
