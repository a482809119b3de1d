import { createServer } from "node:http";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { holdLock } from "../../runtime/process/hold-lock.ts";
import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import { MemoryEndpoints } from "../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildProvider, type Provider } from "../../runtime/provider/build-provider.ts";
import { eventually } from "../support/eventually.ts";
import { callAny, published as publishedIn, settled as settledIn } from "../support/provider-view.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };

let directory: TempDirectory;
let local: OpenEngine;
let functions: MemoryFunctionStore;
let namespaces: MemoryNamespaceStore;
let endpoints: MemoryEndpoints;
let provider: Provider;
/** Ready addresses as a gateway would see them. */
let addresses: readonly string[];

beforeEach(async () => {
  directory = await tempDirectory("provider");
  const data = directory.path;
  local = await openLocalProvider({ data, secrets: join(data, "secrets"), logs: join(data, "logs"), holdLock });
  functions = new MemoryFunctionStore();
  namespaces = new MemoryNamespaceStore();
  endpoints = new MemoryEndpoints();
  addresses = [];
  await endpoints.watch({
    set: (entry) => void (addresses = entry.addresses),
    removed: () => void (addresses = []),
    synced: () => {},
  });
  await openProvider(5_000);
});
afterEach(async () => {
  await provider.close();
  await local.close();
  await directory.remove();
});

/** Opens the provider; `upstreamTimeout` is for functions without a timeout of their own. */
async function openProvider(upstreamTimeout: number): Promise<void> {
  provider = buildProvider({
    functions,
    namespaces,
    secrets: local.secrets,
    replicas: local.replicas,
    endpoints,
    prober: new HttpProber(),
    gatewayUrl: "http://127.0.0.1:8080",
    secretsDirectory: (ref) => local.secretsDirectory(ref),
    upstreamTimeout,
    log: createLog("test", "silent"),
  });
  await provider.open();
}

async function deploy(over: Partial<FunctionDeployment>): Promise<void> {
  const deployment = { service: "hello", image: "example/hello:1", ...over };
  await functions.write(hello, (current) => desireFunction(current, "functions", deployment, new Date().toISOString()));
}

async function scale(replicas: number): Promise<void> {
  await functions.write(hello, (current) => {
    if (current === undefined) throw new Error("not deployed");
    return { ...current, replicas };
  });
}

const within = 60_000;
const published = (matches: (entry: FunctionEndpoints) => boolean, what: string) =>
  publishedIn(endpoints, matches, what, within);
const settled = (count: number, generation: number) => settledIn(endpoints, count, generation, within);
const call = () => callAny(addresses);

const httpServer = (reply: string): string =>
  `node -e 'require("node:http").createServer((q, r) => setTimeout(() => r.end("${reply}"), 5)).listen(process.env.PORT, "127.0.0.1")'`;

/** Calls without a pause until it is ended; then returns each reply with its count, and the failures. */
function callInLoops(count: number): { end(): Promise<{ replies: Map<string, number>; failures: string[] }> } {
  const replies = new Map<string, number>();
  const failures: string[] = [];
  let ending = false;
  const loops = Array.from({ length: count }, async () => {
    while (!ending) {
      await call().then(
        (reply) => replies.set(reply, (replies.get(reply) ?? 0) + 1),
        (err: unknown) => failures.push(String(err)),
      );
    }
  });
  return {
    end: async () => {
      ending = true;
      await Promise.all(loops);
      return { replies, failures };
    },
  };
}

describe("local provider", () => {
  test("a replica that stops has the function's own timeout to reply, beyond the default", async () => {
    const slow = `node -e 'require("node:http").createServer((q, r) => setTimeout(() => r.end("at last"), 7000)).listen(process.env.PORT, "127.0.0.1")'`;
    const annotations = { "com.service.timeout": "60s" };
    await provider.close();
    await openProvider(1_000);
    await deploy({ envProcess: slow, envVars: { mode: "http" }, annotations });
    await settled(1, 1);
    const reply = call();
    await deploy({ envProcess: httpServer("next"), envVars: { mode: "http" }, annotations });
    await settled(1, 2);
    expect(await call()).toBe("next");
    // Beyond the default of 1 s, and the second more that a replica gets.
    expect(await reply).toBe("at last");
  });

  test("serves a per-request and a long-running function, from zero too", async () => {
    await deploy({ envProcess: "echo per request" });
    await settled(1, 1);
    expect(await call()).toBe("per request\n");
    await scale(0);
    await settled(0, 1);
    await scale(2);
    await settled(2, 1);
    await deploy({ envProcess: httpServer("long-running"), envVars: { mode: "http" } });
    await settled(2, 2);

    expect(await call()).toBe("long-running");
  });

  test.each([
    ["per-request", { envProcess: "echo new" }, "echo old"],
    ["long-running", { envProcess: httpServer("new"), envVars: { mode: "http" } }, httpServer("old")],
  ])(
    "a new generation of a %s function rolls without a failed call",
    async (_, next, old) => {
      await deploy({ ...next, envProcess: old, labels: { "com.service.scale.min": "2" } });
      await settled(2, 1);
      const loops = callInLoops(4);
      await eventually(() => addresses.length === 2, { what: "addresses" });
      await deploy({ ...next, labels: { "com.service.scale.min": "2" } });
      await settled(2, 2);
      await scale(4);
      await settled(4, 2);
      await scale(1);
      await settled(1, 2);
      const { replies, failures } = await loops.end();

      expect(failures).toEqual([]);
      expect([...replies.keys()].map((reply) => reply.trim()).sort()).toEqual(["new", "old"]);
    },
    30_000,
  );

  test("a function with a fixed port rolls too, one after the other", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    free.close();
    const fixed = (reply: string): Partial<FunctionDeployment> => ({
      envProcess: httpServer(reply).replace("process.env.PORT", String(port)),
      envVars: { mode: "http", upstream_url: `http://127.0.0.1:${port}` },
    });
    await deploy(fixed("old"));
    await settled(1, 1);
    await deploy(fixed("new"));
    await settled(1, 2);

    expect(await call()).toBe("new");
  });

  test("a crashing function is a crash loop with its last output, and works once it is repaired", async () => {
    await deploy({ envProcess: "sh -c 'echo no luck >&2; exit 3'", envVars: { mode: "http" } });
    const entry = await published(
      ({ conditions }) => conditions.some(({ reason }) => reason === "CrashLoopBackOff"),
      "a crash loop",
    );
    const stalled = entry.conditions.find(({ type }) => type === "Stalled");
    expect(stalled).toMatchObject({ status: "True", message: "The process ended with code 3; it said last: no luck" });
    expect((await local.replicas.list()).length).toBeLessThanOrEqual(1);
    await deploy({ envProcess: "echo repaired" });
    await settled(1, 2);

    expect(await call()).toBe("repaired\n");
  });

  test("a crash of Node.js quotes the error, not the version it ends with", async () => {
    await deploy({ envProcess: `node -e 'throw new Error("DATABASE_URL is not set")'`, envVars: { mode: "http" } });
    const entry = await published(
      ({ conditions }) => conditions.some(({ reason }) => reason === "CrashLoopBackOff"),
      "a crash loop",
    );

    expect(entry.conditions.find(({ type }) => type === "Stalled")?.message).toBe(
      "The process ended with code 1; it said: Error: DATABASE_URL is not set",
    );
  });

  test("a process that does not listen is reported after 5 s, with the port it was given", async () => {
    await deploy({ envProcess: "sleep 600", envVars: { mode: "http" } });
    const entry = await published(
      ({ conditions }) => conditions.some(({ reason }) => reason === "NotListening"),
      "the reason",
    );

    expect(entry.conditions.find(({ type }) => type === "Ready")?.message).toMatch(
      /^0 of 1 replicas are ready: Replica hello-\w+ is not ready: the process runs, but nothing listens on port \d+ \(\$PORT\)$/,
    );
  });

  test("a failing new generation leaves the old one in place", async () => {
    await deploy({ envProcess: "echo old" });
    await settled(1, 1);
    await deploy({ envProcess: "no-such-program" });
    const entry = await published(
      ({ conditions }) => conditions.some(({ type, status }) => type === "Stalled" && status === "True"),
      "a stall",
    );

    expect(entry.conditions.find(({ type }) => type === "Stalled")).toMatchObject({ reason: "CannotRun" });
    expect(entry.conditions.find(({ type }) => type === "Ready")?.status).toBe("True");
    expect(await call()).toBe("old\n");
  });

  test("a missing secret is named; once it exists the function starts", async () => {
    await deploy({ envProcess: "sh -c 'cat $SERVICE_SECRETS_DIR/key'", secrets: ["key"] });
    const entry = await published(
      ({ conditions }) => conditions.some(({ reason }) => reason === "SecretNotFound"),
      "a stall",
    );
    expect(entry.conditions.find(({ type }) => type === "Stalled")?.message).toContain('secret "key" does not exist');
    await local.secrets.create({ namespace: "functions", name: "key" }, Buffer.from("value"));
    await settled(1, 1);

    expect(await call()).toBe("value");
  });

  test("a replica that is killed is replaced while others serve", async () => {
    await deploy({ envProcess: `sh -c 'echo $PPID'`, labels: { "com.service.scale.min": "2" } });
    await settled(2, 1);
    process.kill(Number(await call()), "SIGKILL");
    await published(({ addresses: ready }) => ready.length === 1, "one replica");
    expect(Number(await call())).toBeGreaterThan(0);

    await settled(2, 1);
  });

  test("removing a function leaves nothing of it", async () => {
    await deploy({ envProcess: "echo hi" });
    await settled(1, 1);
    await functions.remove(hello);
    await eventually(async () => (await local.replicas.list()).length === 0 && (await endpoints.list()).length === 0, {
      what: "nothing",
    });
  });

  test("removing a namespace leaves no replica, secret or directory of it", async () => {
    const ref = { namespace: "dev", name: "hello" };
    await local.secrets.create({ namespace: "dev", name: "key" }, Buffer.from("value"));
    const deployment = { service: "hello", image: "example/hello:1", envProcess: "cat", secrets: ["key"] };
    const createdAt = new Date().toISOString();
    await functions.write(ref, (current) => desireFunction(current, "dev", deployment, createdAt));
    await settled(1, 1);
    const directories = ["secrets", "logs"].map((kind) => join(directory.path, kind, "dev"));
    expect(directories.filter(existsSync)).toEqual(directories);
    await namespaces.write("dev", () => ({ name: "dev", labels: {}, annotations: {}, createdAt, deleting: true }));
    await functions.remove(ref);
    await eventually(async () => (await namespaces.get("dev")) === undefined, { what: "its end" });

    expect(directories.filter(existsSync)).toEqual([]);
    expect([await local.replicas.list(), await endpoints.list()]).toEqual([[], []]);
  });
});

describe("HttpProber", () => {
  test("distinguishes responses, refusals, connections and silence", async () => {
    const prober = new HttpProber();
    const server = createServer((request, response) => {
      if (request.url === "/silent") return;
      response.writeHead(Number(request.url?.slice(1))).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

    expect(await prober.probe(address, "/200", 1_000)).toEqual({ kind: "passed" });
    expect(await prober.probe(address, "/399", 1_000)).toEqual({ kind: "passed" });
    expect(await prober.probe(address, "/404", 1_000)).toEqual({ kind: "responded", status: 404 });
    expect(await prober.probe(address, "/503", 1_000)).toEqual({ kind: "responded", status: 503 });
    expect(await prober.probe(address, "/silent", 50)).toEqual({ kind: "silent" });
    expect(await prober.probe(address, undefined, 1_000)).toEqual({ kind: "passed" });
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    expect(await prober.probe(address, "/200", 1_000)).toEqual({ kind: "refused" });
    expect(await prober.probe(address, undefined, 1_000)).toEqual({ kind: "refused" });
    expect((await prober.probe("not-an-address", "/", 1_000)).kind).not.toBe("passed");
  });
});
