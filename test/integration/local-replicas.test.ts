import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, lstat, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { holdLock } from "../../runtime/process/hold-lock.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { echoSpec, replicasContract } from "../contract/replicas.contract.ts";
import { socketPathOf } from "../../runtime/api/replica-address.ts";
import { eventually } from "../support/eventually.ts";
import { fetchReplica } from "../support/fetch-replica.ts";
import { isRunningChild } from "../support/kill-at-exit.ts";
import { livingProcesses } from "../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
const hello = { namespace: "functions", name: "hello" };

let directory: TempDirectory;
let provider: OpenEngine;
/** Hosts that run as processes, and providers beside `provider`. */
const hosts: ChildProcess[] = [];
const others: OpenEngine[] = [];

async function open(): Promise<OpenEngine> {
  const data = directory.path;
  return await openLocalProvider({ data, secrets: join(data, "secrets"), logs: join(data, "logs"), holdLock });
}

async function runDirectory(): Promise<string> {
  const note: { directory: string } = JSON.parse(await readFile(join(directory.path, "run", "local.json"), "utf8"));
  return note.directory;
}

/** Living processes whose command contains `text`; a random time to sleep marks them. */
const processesWith = (text: string): number[] =>
  livingProcesses()
    .filter(({ command, pid }) => command.includes(text) && pid !== process.pid)
    .map(({ pid }) => pid);

const mark = (): string => String(100_000 + Math.floor(Math.random() * 900_000_000));

async function reached(id: string, state: Replica["state"]): Promise<Replica> {
  return await eventually(
    async () => (await provider.replicas.list()).find((replica) => replica.id === id && replica.state === state),
    { what: `state ${state}` },
  );
}

async function run(spec: Partial<ReplicaSpec> & { environment: Record<string, string> }): Promise<Replica> {
  const { id } = await provider.replicas.start({ ...echoSpec(), ...spec });
  const replica = await reached(id, "running");
  await eventually(async () => (await fetchReplica(replica.address, "/_/ready")).ok, { what: "readiness" });
  return replica;
}

async function logOf(ref = hello): Promise<string[]> {
  const records: LogRecord[] = [];
  const query = { ...ref, instance: undefined, tail: undefined, since: undefined, follow: false };
  for await (const record of provider.logs.read(query, new AbortController().signal)) records.push(record);
  return records.map(({ text }) => text);
}

/** The next output of a host; rejects if it ends before. */
async function outputOf(host: ChildProcess): Promise<string> {
  const [chunk] = await Promise.race([
    once(host.stdout ?? host, "data"),
    once(host, "exit").then(([code]) => Promise.reject(new Error(`the host ended with ${code}`))),
  ]);
  return String(chunk);
}

beforeEach(async () => {
  directory = await tempDirectory("local");
  provider = await open();
});
afterEach(async () => {
  for (const host of hosts.splice(0)) {
    if (!isRunningChild(host)) continue;
    host.kill("SIGKILL");
    await once(host, "exit");
  }
  for (const other of others.splice(0)) await other.close();
  await provider.close();
  await directory.remove();
});

describe("LocalReplicas", () =>
  replicasContract(async () => {
    const own = await tempDirectory("local");
    const opened = await openLocalProvider({
      data: own.path,
      secrets: join(own.path, "secrets"),
      logs: join(own.path, "logs"),
      holdLock,
    });
    return {
      replicas: opened.replicas,
      end: async (replica) => void process.kill(watchdogOf(replica), "SIGKILL"),
      close: async () => {
        await opened.close();
        await own.remove();
      },
    };
  }));

/** The watchdog of a replica, whose command names its socket. */
function watchdogOf({ address = "" }: Replica): number {
  const [pid] = processesWith(socketPathOf(address) ?? "no socket");
  if (pid === undefined) throw new Error(`nobody listens on ${address}`);
  return pid;
}

test("a function works in its own directory, which is removed with it", async () => {
  const { id, address } = await run({
    environment: { fprocess: `sh -c 'pwd; echo $HOME; echo $TMPDIR; touch here && ls'` },
  });
  const path = join(await runDirectory(), "replicas", id);

  expect(await (await fetchReplica(address)).text()).toBe(`${path}\n${path}\n${path}\nhere\n`);
  await provider.replicas.stop(id);
  await expect(lstat(path)).rejects.toThrow("ENOENT");
});

test("the environment is the function's, and has nothing of this process", async () => {
  const { address } = await run({
    environment: { fprocess: "env", NODE_OPTIONS: "--no-such-option", mode: "process" },
  });
  const names = (await (await fetchReplica(address)).text())
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0] ?? "");

  expect(names.filter((name) => !name.startsWith("Http_")).sort()).toEqual([
    "HOME",
    "NODE_OPTIONS",
    "PATH",
    "TMPDIR",
    "fprocess",
    "mode",
  ]);
});

test("node is on the PATH of functions", async () => {
  const { address } = await run({ environment: { fprocess: "node -p process.version" } });

  expect((await (await fetchReplica(address)).text()).trim()).toBe(process.version);
});

test("several replicas of a long-running function each get a port", async () => {
  const environment = {
    mode: "http",
    fprocess: `node -e 'require("node:http").createServer((q, r) => r.end(process.env.PORT)).listen(process.env.PORT)'`,
  };
  const replicas = [await run({ environment }), await run({ environment }), await run({ environment })];
  const ports = await Promise.all(replicas.map(async ({ address }) => (await fetchReplica(address)).text()));

  expect(new Set(ports).size).toBe(3);
});

test("both output streams are logged per replica; their end stays until forget()", async () => {
  const { id, address } = await run({ environment: { fprocess: `sh -c 'echo one >&2; echo two >&2; echo answer'` } });
  await (await fetchReplica(address)).text();
  await eventually(async () => (await logOf()).length === 2, { what: "two lines" });
  expect(await logOf()).toEqual(["one\n", "two\n"]);
  await provider.replicas.stop(id);

  expect(await logOf()).toEqual(["one\n", "two\n"]);
  expect(await readdir(join(directory.path, "logs", "functions", "hello"))).toEqual(["ended"]);
  await provider.replicas.forget(hello);
  expect(await logOf()).toEqual([]);
});

test("a followed log ends at forget(), with all that was written", async () => {
  const { id, address } = await run({ environment: { fprocess: `sh -c 'echo line >&2'` } });
  const texts: string[] = [];
  const query = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: true };
  const following = (async () => {
    for await (const { text } of provider.logs.read(query, new AbortController().signal)) texts.push(text);
  })();
  await (await fetchReplica(address)).text();
  await eventually(() => texts.length === 1, { what: "the line" });
  await (await fetchReplica(address)).text();
  await provider.replicas.stop(id);
  await provider.replicas.forget(hello);
  await following;

  expect(texts).toEqual(["line\n", "line\n"]);
});

test("a process that ends by itself is reported with its code and its last output", async () => {
  const spec = { ...echoSpec(), environment: { mode: "http", fprocess: `sh -c 'echo out of luck >&2; exit 3'` } };
  const { id } = await provider.replicas.start(spec);

  expect((await reached(id, "exited")).failure).toEqual({
    reason: "Error",
    message: "The process ended with code 3; it said last: out of luck",
  });
});

test("a function without a process, or whose program is missing, is reported with the reason", async () => {
  const nothing = await provider.replicas.start({ ...echoSpec(), environment: {} });
  expect((await reached(nothing.id, "exited")).failure?.message).toContain("it has no process");
  const missing = await provider.replicas.start({ ...echoSpec(), environment: { fprocess: "no-such-program" } });

  expect((await reached(missing.id, "exited")).failure).toEqual({
    reason: "CannotRun",
    message: 'Cannot run the function: "no-such-program" is not a program that it can find and execute',
  });
});

test("a fixed port is for one replica; a second one fails with PortInUse", async () => {
  const probe = await run({
    environment: {
      mode: "http",
      fprocess: `node -e 'require("node:http").createServer((q, r) => r.end(process.env.PORT)).listen(process.env.PORT)'`,
    },
  });
  const upstream_url = `http://127.0.0.1:${await (await fetchReplica(probe.address)).text()}`;
  const { id } = await provider.replicas.start({
    ...echoSpec(),
    environment: { mode: "http", upstream_url, fprocess: "sleep 5" },
  });

  expect((await reached(id, "exited")).failure?.reason).toBe("PortInUse");
});

test("stop() waits for calls in flight, and ends what takes longer than the grace", async () => {
  const quick = await run({ environment: { fprocess: `sh -c 'sleep 0.5; echo done'` } });
  const reply = fetchReplica(quick.address);
  await eventually(() => processesWith("sleep 0.5").length > 0, { what: "the call to run" });
  await provider.replicas.stop(quick.id);
  expect(await (await reply).text()).toBe("done\n");

  const time = mark();
  const slow = await run({ environment: { fprocess: `sleep ${time}` }, grace: 200 });
  const refused = fetchReplica(slow.address).then(
    () => "responded",
    () => "cut",
  );
  await eventually(() => processesWith(`sleep ${time}`).length > 0, { what: "the call to run" });
  await provider.replicas.stop(slow.id);

  expect(await refused).toBe("cut");
  expect(processesWith(`sleep ${time}`)).toEqual([]);
});

test("stop() leaves no process, not even one that left its group", async () => {
  const time = mark();
  const { id, address } = await run({
    environment: { fprocess: `sh -c 'setsid sleep ${time} >/dev/null 2>&1 & sleep 0.1; echo'` },
  });
  await (await fetchReplica(address)).text();
  expect(processesWith(`sleep ${time}`)).toHaveLength(1);
  await provider.replicas.stop(id);

  await eventually(() => processesWith(`sleep ${time}`).length === 0, { what: "no process" });
});

test("a watchdog that is killed leaves no process of its function", async () => {
  const time = mark();
  const replica = await run({
    environment: {
      mode: "http",
      fprocess: `sh -c 'node -e "require(\\"node:net\\").createServer().listen(process.env.PORT)" ${time}'`,
    },
  });
  process.kill(watchdogOf(replica), "SIGKILL");
  const { failure } = await reached(replica.id, "exited");

  expect(failure?.message).toContain("ended by SIGKILL");
  expect(processesWith(time)).toEqual([]);
});

test("after SIGKILL of the host its functions end; the next host removes the rest, except last logs", async () => {
  const time = mark();
  const module = pathToFileURL(join(repository, "runtime/adapters/machine/local/open-local-provider.ts")).href;
  const data = join(directory.path, "host");
  await mkdir(data);
  const options = { data, secrets: join(data, "secrets"), logs: join(data, "logs") };
  const environment = {
    mode: "http",
    fprocess: `sh -c 'echo starting; node -e "require(\\"node:net\\").createServer().listen(process.env.PORT)" ${time}'`,
  };
  const host = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `
    const { openLocalProvider } = await import(${JSON.stringify(module)});
    const { holdLock } = await import(${JSON.stringify(new URL("../../../process/hold-lock.ts", module).href)});
    const { replicas } = await openLocalProvider({ ...${JSON.stringify(options)}, holdLock });
    replicas.onChange(() => console.log("running"));
    await replicas.start(${JSON.stringify({ ...echoSpec(), environment })});
  `,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  hosts.push(host);
  await outputOf(host);
  await eventually(() => processesWith(time).length > 0, { what: "the process" });
  const live = join(data, "logs", "functions", "hello");
  await eventually(
    async () => {
      const texts = await Promise.all((await readdir(live)).map((name) => readFile(join(live, name), "utf8")));
      return texts.some((text) => text.includes("starting"));
    },
    { what: "its first line" },
  );
  const note: { directory: string } = JSON.parse(await readFile(join(data, "run", "local.json"), "utf8"));
  expect(await readdir(join(data, "logs", "functions", "hello"))).toHaveLength(1);
  host.kill("SIGKILL");
  await eventually(() => processesWith(time).length === 0 && processesWith(note.directory).length === 0, {
    what: "an end of all processes",
  });

  const next = await openLocalProvider({ ...options, holdLock });
  others.push(next);
  await expect(lstat(note.directory)).rejects.toThrow("ENOENT");
  const read = async (): Promise<string[]> => {
    const records: LogRecord[] = [];
    const query = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };
    for await (const record of next.logs.read(query, new AbortController().signal)) records.push(record);
    return records.map(({ text }) => text);
  };
  expect(await readdir(join(options.logs, "functions", "hello"))).toEqual(["ended"]);
  expect(await read()).toContain("starting\n");
  expect(await next.replicas.orphans()).toEqual([hello]);
  await next.replicas.forget(hello);
  expect(await read()).toEqual([]);
  expect(await next.replicas.orphans()).toEqual([]);
});

test("closeNow() aborts calls in flight, and ends a close() that waits for them", async () => {
  const seconds = mark();
  const { address } = await run({ grace: 600_000, environment: { fprocess: `sleep ${seconds}` } });
  const called = fetchReplica(address, "/", "POST").then(
    ({ status }) => status,
    () => 502,
  );
  await eventually(() => processesWith(seconds).length > 0, { what: "the call to be with the function" });
  const path = await runDirectory();
  const closed = provider.close();
  await provider.closeNow();
  await closed;
  expect(processesWith(seconds)).toEqual([]);
  await expect(lstat(path)).rejects.toThrow("ENOENT");
  expect(await called).toBeGreaterThanOrEqual(500);
});

test("close() removes the run directory and all processes", async () => {
  const time = mark();
  await run({
    environment: {
      mode: "http",
      fprocess: `sh -c 'node -e "require(\\"node:net\\").createServer().listen(process.env.PORT)" ${time}'`,
    },
  });
  const path = await runDirectory();
  await provider.close();

  await expect(lstat(path)).rejects.toThrow("ENOENT");
  expect(processesWith(time)).toEqual([]);
});

test.runIf(isRoot)("the platform's files may lie where functions cannot reach them", async () => {
  const clone = join(directory.path, "clone");
  await mkdir(clone, { mode: 0o700 });
  await cp(join(repository, "runtime"), join(clone, "runtime"), { recursive: true });
  await cp(join(repository, "package.json"), join(clone, "package.json"));
  await cp(join(repository, "node_modules/shlex"), join(clone, "node_modules/shlex"), { recursive: true });
  const node = join(clone, "node");
  await cp(process.execPath, node);
  const module = pathToFileURL(join(clone, "runtime/adapters/machine/local/open-local-provider.ts")).href;
  const data = join(directory.path, "host");
  const options = { data, secrets: join(data, "secrets"), logs: join(data, "logs") };
  const environment = { fprocess: `node -p process.getuid()+process.execPath` };
  const host = spawn(
    node,
    [
      "--input-type=module",
      "-e",
      `
    const { fetchReplica } = await import(${JSON.stringify(new URL("../support/fetch-replica.ts", import.meta.url).href)});
    const { openLocalProvider } = await import(${JSON.stringify(module)});
    const { holdLock } = await import(${JSON.stringify(new URL("../../../process/hold-lock.ts", module).href)});
    const { replicas, close } = await openLocalProvider({ ...${JSON.stringify(options)}, holdLock });
    const unhear = replicas.onChange(async () => {
      unhear();
      const [{ address, failure }] = await replicas.list();
      console.log(failure?.message ?? await (await fetchReplica(address)).text());
      await close();
    });
    await replicas.start(${JSON.stringify({ ...echoSpec(), environment })});
  `,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  hosts.push(host);
  const exited = once(host, "exit");
  const output = await outputOf(host);
  await exited;

  expect(output).toMatch(/^6\d{4}\/.*weir-\w{6}\/bin\/node\n/);
});
