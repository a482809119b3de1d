import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import type { ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { eventually } from "../support/eventually.ts";
import { fetchReplica } from "../support/fetch-replica.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const isRoot = process.getuid?.() === 0;

let directory: TempDirectory;
let providers: OpenEngine[];

beforeEach(async () => {
  directory = await tempDirectory("confined");
  providers = [];
});
afterEach(async () => {
  for (const provider of providers) await provider.close();
  await directory.remove();
});

async function open(name: string): Promise<OpenEngine> {
  const data = join(directory.path, name);
  await mkdir(data);
  const provider = await openLocalProvider({
    data,
    secrets: join(data, "secrets"),
    logs: join(data, "logs"),
    holdLock,
  });
  providers.push(provider);
  return provider;
}

/** The reply of a function with this environment to one call. */
async function replyOf(provider: OpenEngine, environment: Record<string, string>, name = "hello"): Promise<string> {
  const spec: ReplicaSpec = {
    name,
    namespace: "functions",
    generation: 1,
    image: "none",
    envProcess: undefined,
    environment,
    secrets: [],
    limits: {},
    requests: {},
    readOnlyRootFilesystem: false,
    grace: 1_000,
  };
  const { id } = await provider.replicas.start(spec);
  const replica = await eventually(
    async () => (await provider.replicas.list()).find((each) => each.id === id && each.state !== "starting"),
    { what: "the replica" },
  );
  if (replica.address === undefined) throw new Error(replica.failure?.message ?? replica.state);
  const reply = await eventually(
    async () => {
      const response = await fetchReplica(replica.address);
      const text = await response.text();
      return response.status === 200 ? text : undefined;
    },
    { what: "a reply" },
  );
  await provider.replicas.stop(id);
  return reply;
}

/** A line of `/proc/<pid>/status`. */
function fact(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(status)?.[1];
}

const server = `require("node:http").createServer((q, r) => r.end(require("node:fs").readFileSync("/proc/self/status"))).listen(process.env.PORT)`;
const modes = [
  ["process", { fprocess: "cat /proc/self/status" }],
  ["http", { mode: "http", fprocess: `node -e '${server}'` }],
] as const;

describe.each(modes)("a function in mode %s", (_mode, environment) => {
  test("can gain no new privileges, and system calls that it does not need are refused", async () => {
    const status = await replyOf(await open("one"), environment);
    expect(fact(status, "NoNewPrivs")).toBe("1");
    expect(fact(status, "Seccomp")).toBe("2");
  });

  test.runIf(isRoot)("has its own user and group, no other groups, and no capability of any kind", async () => {
    const status = await replyOf(await open("one"), environment);
    for (const name of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect([name, fact(status, name)]).toEqual([name, "0000000000000000"]);
    const [user] = fact(status, "Uid")?.split("\t") ?? [];
    expect(fact(status, "Uid")).toBe(`${user}\t${user}\t${user}\t${user}`);
    expect(fact(status, "Gid")).toBe(`${user}\t${user}\t${user}\t${user}`);
    expect(Number(user)).toBeGreaterThanOrEqual(61_184);
    expect(fact(status, "Groups")?.trim()).toBe("");
  });
});

test.runIf(isRoot)("the same function of two Weirs on one machine has two users", async () => {
  const [one, other] = [await open("one"), await open("other")];
  const users = await Promise.all([one, other].map((provider) => replyOf(provider, { fprocess: "id -u" })));
  expect(users[0]).toMatch(/^6\d{4}\n$/);
  expect(users[0]).not.toBe(users[1]);
});

test("namespaces, mounts and the kernel's keys are out of reach, processes and threads are not", async () => {
  const provider = await open("one");
  const tries =
    "unshare --user true; unshare --mount true; mount -t tmpfs none /tmp; perl -e 'exit(syscall(250, 0, -1, 0) < 0)'";
  const script = tries
    .split("; ")
    .map((each) => `${each} 2>/dev/null && echo did; `)
    .join("");
  expect(
    await replyOf(provider, {
      fprocess: `sh -c "${script.replaceAll('"', '\\"')} echo end; sh -c 'echo child' & wait"`,
    }),
  ).toMatch(/^end\nchild\n$/);
  const threads = `new (require("node:worker_threads").Worker)("require('node:worker_threads').parentPort.postMessage('thread')", { eval: true }).on("message", console.log)`;
  expect(await replyOf(provider, { fprocess: `node -e '${threads.replaceAll("'", `'\\''`)}'` }, "threads")).toBe(
    "thread\n",
  );
});

test("isolation says what isolates functions", async () => {
  const { isolation } = await open("one");
  if (isRoot)
    expect(isolation).toMatch(/^a user per function, no capabilities, no new privileges, seccomp; files, network/);
  else expect(isolation).toBe("no isolation (no new privileges, seccomp)");
});
