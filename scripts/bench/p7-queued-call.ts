import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { Pool } from "undici";

import { NatsEndpoints } from "../../runtime/adapters/nats/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/nats-function-store.ts";
import { NatsLink } from "../../runtime/adapters/nats/nats-link.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { desireFunction } from "../../runtime/core/desired-function.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openNatsServer, type TestNatsServer } from "../../test/support/nats-server.ts";
import { startBackground } from "./background.ts";
import { provisionBare, runBare } from "./bare-protocol.ts";
import type { BenchRow } from "./bench-row.ts";
import { openNginx, tinyFunction } from "./nginx.ts";
import { needTool } from "./tools.ts";

const calls = 3_000;
const inFlight = 64;
const slots = 16;
const body = Buffer.alloc(1_024, "x");
const longest = 60_000;

/** P7: calls accepted over HTTP, run, recorded and acknowledged by one worker, against the bare protocol. */
export const p7QueuedCall: BenchRow = {
  id: "P7",
  what: `queued call: accept, run, record, ack; 1 KiB, one worker with ${slots} slots`,
  peer: "the same steps at the same broker without HTTP, in one process",
  unit: "calls/s",
  firstBar: 0.5,
  goal: 0.8,
  open: async () => {
    const nginx = needTool("nginx", "nginx-light");
    const closers: (() => unknown)[] = [];
    const close = async (): Promise<void> => {
      for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step();
    };
    try {
      const nats = await openNatsServer();
      closers.push(() => nats.close());
      const fn = await openNginx(nginx, 1, tinyFunction("x".repeat(1_024)));
      closers.push(() => fn.close());
      const ports = await startPlatform(nats, closers);
      const link = await NatsLink.open({
        url: nats.url,
        name: "bench",
        user: undefined,
        password: undefined,
        inboxPrefix: "_INBOX.bench",
        pingInterval: 5_000,
      });
      closers.push(() => link.close());
      await deploy(link, fn.port);
      await provisionBare(link.nc);
      const pool = new Pool(`http://127.0.0.1:${ports.gateway}`, { connections: inFlight });
      closers.push(() => pool.destroy());
      return {
        weir: () => throughWeir(pool, ports.workerAdmin),
        peer: () => runBare(link.nc, { count: calls, inFlight, slots, body }),
        close,
      };
    } catch (err) {
      await close();
      throw err;
    }
  },
};

/** Doctor, gateway and one worker as processes of their own. */
async function startPlatform(
  nats: TestNatsServer,
  closers: (() => unknown)[],
): Promise<{ gateway: number; workerAdmin: number }> {
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-"));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, credentialFile.user), "admin");
  writeFileSync(join(directory, credentialFile.password), "bench");
  const run = async (name: string, admin: number, flags: readonly string[]): Promise<void> => {
    const main = join(import.meta.dirname, "../../runtime", name, "main.ts");
    const common = ["--nats-url", nats.url, "--admin-port", String(admin), "--log-level", "error"];
    const started = startBackground([process.execPath, main, ...common, ...flags]);
    closers.push(() => started.stop());
    await ready(admin);
  };
  const ports = { gateway: await freePort(), workerAdmin: await freePort() };
  await run("queue-doctor", await freePort(), [
    "--edition",
    "pro",
    "--one-machine",
    "true",
    "--max-file-store",
    "1073741824",
    "--max-inflight",
    String(slots),
  ]);
  await run("queue-worker", ports.workerAdmin, []);
  await run("gateway", await freePort(), [
    "--edition",
    "pro",
    "--port",
    String(ports.gateway),
    "--secret-mount-path",
    directory,
    "--shutdown-delay",
    "0s",
  ]);
  return ports;
}

async function deploy(link: NatsLink, port: number): Promise<void> {
  const ref = { namespace: "functions", name: "tiny" };
  const functions = await NatsFunctionStore.open(link);
  await functions.write(ref, (current) =>
    desireFunction(current, ref.namespace, { service: ref.name, image: "none" }, new Date().toISOString()),
  );
  const endpoints = await NatsEndpoints.open(link);
  await endpoints.publish({ ...ref, addresses: [`127.0.0.1:${port}`], observedGeneration: 1, conditions: [] });
}

async function throughWeir(pool: Pool, workerAdmin: number): Promise<number> {
  const before = await processed(workerAdmin);
  let sent = 0;
  const startedAt = performance.now();
  const send = async (): Promise<void> => {
    while (sent < calls) {
      sent++;
      const reply = await pool.request({ method: "POST", path: "/async-function/tiny", body });
      await reply.body.dump();
      if (reply.statusCode !== 202) throw new Error(`the gateway answered ${reply.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  await until(async () => (await processed(workerAdmin)) - before >= calls, "the worker to finish", 25);
  return calls / ((performance.now() - startedAt) / 1_000);
}

async function processed(workerAdmin: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${workerAdmin}/metrics`)).text();
  return Number(/^queue_worker_messages_processed_total\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

async function ready(admin: number): Promise<void> {
  await until(
    () =>
      fetch(`http://127.0.0.1:${admin}/readyz`).then(
        (reply) => reply.ok,
        () => false,
      ),
    "a process to be ready",
    50,
  );
}

async function until(condition: () => Promise<boolean>, what: string, every: number): Promise<void> {
  for (const deadline = performance.now() + longest; performance.now() < deadline; await pause(every)) {
    if (await condition()) return;
  }
  throw new Error(`waited ${longest} ms for ${what}`);
}
