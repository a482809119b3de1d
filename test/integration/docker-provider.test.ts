import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";

import type { DockerProvider } from "../../runtime/adapters/machine/docker/open-docker-provider.ts";
import { engineTrouble } from "../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { MemoryEndpoints } from "../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildPlatformDoctor } from "../../runtime/gateway/doctor/platform-doctor.ts";
import { buildProvider, type Provider } from "../../runtime/provider/build-provider.ts";
import { echoSpec } from "../contract/replicas.contract.ts";
import { memoryDoctorParts } from "../support/memory-doctor.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { dockerProvider, echoImage, tagEcho } from "../support/docker-provider.ts";
import { eventually } from "../support/eventually.ts";
import { openImageRegistry } from "../support/image-registry.ts";
import { addedSince, networkState, type NetworkState } from "../support/packet-filter.ts";
import { callAny, published as publishedIn, settled as settledIn } from "../support/provider-view.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const hello = { namespace: "functions", name: "hello" };
const log = createLog("test", "silent");

let engine: TestDockerEngine;
let before: NetworkState;
let directory: TempDirectory;
let docker: DockerProvider;
let functions: MemoryFunctionStore;
let namespaces: MemoryNamespaceStore;
let endpoints: MemoryEndpoints;
let provider: Provider;
/** Ready addresses as a gateway would see them. */
let addresses: readonly string[];

/** Opens provider and adapter on the directory, as a host does. */
async function open(data = directory.path): Promise<void> {
  docker = await dockerProvider(engine, data);
  provider = buildProvider({
    functions,
    namespaces,
    secrets: docker.secrets,
    replicas: docker.replicas,
    endpoints,
    prober: new HttpProber(),
    gatewayUrl: "http://gateway.weir.svc.cluster.local.:8080",
    secretsDirectory: (ref) => docker.secretsDirectory(ref),
    upstreamTimeout: 5_000,
    log,
  });
  await provider.open();
}

async function deploy(over: Partial<FunctionDeployment>): Promise<void> {
  const deployment = { service: "hello", image: echoImage, ...over };
  await functions.write(hello, (current) => desireFunction(current, "functions", deployment, new Date().toISOString()));
}

const within = 60_000;
const published = (matches: (entry: FunctionEndpoints) => boolean, what: string) =>
  publishedIn(endpoints, matches, what, within);
const settled = (count: number, generation: number) => settledIn(endpoints, count, generation, within);
/** Calls any ready replica; throws with the reason if there is none. */
const call = async (): Promise<string> => {
  if (addresses.length > 0) return await callAny(addresses);
  const entries = (await endpoints.list()).flatMap(({ conditions }) => conditions);
  const replicas = (await docker.replicas.list()).map(({ id, state, address }) => `${id} ${state} ${address}`);
  throw new Error(
    `no address: ${[...entries.map(({ type, message }) => `${type}: ${message}`), ...replicas].join("; ")}`,
  );
};

const containers = async (): Promise<readonly { Id: string; Names: string[]; State: string }[]> =>
  (
    await engine.client.call<{ Id: string; Names: string[]; State: string }[]>("GET", "/containers/json", {
      query: { all: "1" },
    })
  ).body ?? [];

describe.skipIf(noDockerEngine() !== undefined)("provider with containers", () => {
  beforeAll(async () => {
    engine = await openDockerEngine();
    await tagEcho(engine);
    before = await networkState();
  }, 300_000);
  afterAll(() => engine?.close(), 120_000);

  beforeEach(async () => {
    directory = await tempDirectory("docker-data");
    functions = new MemoryFunctionStore();
    namespaces = new MemoryNamespaceStore();
    endpoints = new MemoryEndpoints();
    addresses = [];
    await endpoints.watch({
      set: (entry) => void (addresses = entry.addresses),
      removed: () => void (addresses = []),
      synced: () => {},
    });
    await open();
  });
  afterEach(async () => {
    await provider.close();
    await docker.close();
    await directory.remove();
    expect(await containers()).toEqual([]);
    expect(await addedSince(before)).toEqual([]);
  });

  test("a new generation rolls without a failed call, also to more replicas and fewer", async () => {
    const replying = (word: string): Partial<FunctionDeployment> => ({
      envProcess: `node -e 'require("node:http").createServer((q, r) => setTimeout(() => r.end("${word}"), 5)).listen(process.env.PORT)'`,
      envVars: { mode: "http" },
      labels: { "com.service.scale.min": "2" },
    });
    await deploy(replying("old"));
    await settled(2, 1);
    const replies = new Set<string>();
    const failures: string[] = [];
    let ending = false;
    const loops = Array.from({ length: 3 }, async () => {
      while (!ending)
        await call().then(
          (reply) => replies.add(reply),
          (err: unknown) => failures.push(String(err)),
        );
    });
    await deploy(replying("new"));
    await settled(2, 2);
    await functions.write(hello, (current) => ({ ...(current ?? fail()), replicas: 1 }));
    await settled(1, 2);
    ending = true;
    await Promise.all(loops);

    expect(failures).toEqual([]);
    expect([...replies].sort()).toEqual(["new", "old"]);
  });

  test("a failed pull is a condition with the engine's message, and the next deployment repairs it", async () => {
    await deploy({ image: "127.0.0.1:1/none:1", envProcess: "cat" });
    const entry = await published(
      ({ conditions }) => conditions.some(({ type, status }) => type === "Stalled" && status === "True"),
      "a stall",
    );
    expect(entry.conditions.find(({ type }) => type === "Stalled")).toMatchObject({ reason: "ImagePullBackOff" });
    expect(entry.conditions.find(({ type }) => type === "Ready")?.message).toContain("connection refused");
    expect(provider.check()).toBeUndefined();
    await deploy({ envProcess: "echo mended" });
    await settled(1, 2);

    expect(await call()).toBe("mended\n");
  });

  test("after a host was killed the next one takes over its replicas and their secrets", async () => {
    const data = join(directory.path, "killed");
    await mkdir(data);
    const [container, id] = await killedHost(data);
    const taken = await dockerProvider(engine, data);
    try {
      const [replica, ...others] = await taken.replicas.list();
      expect(others).toEqual([]);
      expect(replica).toMatchObject({ ...hello, id, generation: 3, state: "running", failure: undefined });
      expect((await containers()).map(({ Id: each }) => each)).toEqual([container]);
      const ask = async (): Promise<string> => (await fetch(`http://${replica?.address}/`)).text();
      expect(await ask()).toBe("one");
      await taken.secrets.replace({ namespace: "functions", name: "key" }, Buffer.from("two"));
      expect(await ask()).toBe("two");
      expect(taken.bridgeAddresses()).toHaveLength(1);
    } finally {
      await taken.close();
    }
  });

  test.each(["killed", "restarted"])(
    "when the engine is %s, functions come back by themselves",
    async (how) => {
      await deploy({ envProcess: "echo hi", labels: { "com.service.scale.min": "2" } });
      await settled(2, 1);
      const ends = new Set<string>();
      const look = async (): Promise<void> => {
        for (const { state, failure } of await docker.replicas.list())
          if (state === "exited" && failure !== undefined) ends.add(failure.reason);
      };
      const stopListening = docker.replicas.onChange(() => void look());
      if (how === "killed") {
        await engine.kill();
        await eventually(() => provider.check(), { what: "a report that the engine is away" });
        expect(provider.check()).toContain("Cannot reach the container engine");
        expect(await engineTrouble(engine.socket)).toContain("Cannot reach the container engine");
        const doctor = buildPlatformDoctor(memoryDoctorParts({ providerFault: () => provider.check() }));
        expect((await doctor.report()).findings).toContainEqual(
          expect.objectContaining({
            id: "provider",
            level: "problem",
            sentence: expect.stringMatching(/^Cannot reach the container engine.*; calls of running functions go on/),
          }),
        );
        await engine.start();
      } else {
        await engine.restart();
      }
      await eventually(
        async () => {
          const replicas = await docker.replicas.list();
          const running = (await containers()).filter(({ State: state }) => state === "running");
          return running.length === 2 && replicas.length === 2 && replicas.every(({ state }) => state === "running");
        },
        { within: 45_000, what: "two replicas that run" },
      );
      // The containers run before the provider knows of it: its last report may be older than the engine's end.
      await eventually(() => provider.check() === undefined, { what: "a report that the engine is back" });
      const reply = await eventually(call, { within: 45_000, what: "a reply" });
      await settled(2, 1);

      expect(reply).toBe("hi\n");
      stopListening();
      // No failure of the functions, whose next starts would have to wait.
      if (how === "killed") expect([...ends]).toEqual(["EngineRestarted"]);
    },
    150_000,
  );

  test("the conditions show the progress of a pull", async () => {
    await using registry = await openImageRegistry({ layer: 3_000_000, pieces: 12, pause: 200 });
    await deploy({ image: `${registry.host}/acme/slow` });
    const entry = await published(
      ({ conditions }) =>
        conditions.some(({ reason, message }) => reason === "PullingImage" && message.endsWith(" of 3 MB")),
      "progress of the pull",
    );

    expect(entry.conditions.find(({ type }) => type === "Ready")?.message).toContain("Pulling image");
    expect(entry.conditions.find(({ type }) => type === "Stalled")?.status).toBe("False");
  });

  test("the next host keeps the replicas of the killed one, and removes those that are no longer desired", async () => {
    const data = join(directory.path, "killed");
    await mkdir(data);
    const [container] = await killedHost(data, [
      { ref: hello, generation: 1 },
      { ref: { ...hello, name: "orphan" }, generation: 1 },
    ]);
    expect(await containers()).toHaveLength(2);
    await provider.close();
    await docker.close();
    await deploy({ envProcess: "cat /var/service/secrets/key", secrets: ["key"] });
    await open(data);
    await settled(1, 1);
    expect(await call()).toBe("one");
    await eventually(async () => (await containers()).length === 1, { what: "an end of the orphan" });

    expect((await containers())[0]?.Id).toBe(container);
  });

  test("removing a function leaves no container, network or directory", async () => {
    await deploy({ envProcess: "echo hi" });
    await settled(1, 1);
    await functions.remove(hello);
    await eventually(async () => (await endpoints.list()).length === 0 && docker.bridgeAddresses().length === 0, {
      what: "nothing",
    });

    expect(await containers()).toEqual([]);
  });

  test("removing a namespace leaves no container, network, secret or directory, and others lose nothing", async () => {
    const createdAt = new Date().toISOString();
    const deployment = {
      service: "hello",
      image: echoImage,
      envProcess: "cat /var/service/secrets/key",
      secrets: ["key"],
    };
    for (const namespace of ["dev", "functions"]) {
      await docker.secrets.create({ namespace, name: "key" }, Buffer.from(namespace));
      await functions.write({ namespace, name: "hello" }, (current) =>
        desireFunction(current, namespace, deployment, createdAt),
      );
    }
    await eventually(
      async () => (await endpoints.list()).filter(({ addresses: ready }) => ready.length === 1).length === 2,
      { what: "both functions" },
    );
    expect([docker.bridgeAddresses().length, (await containers()).length]).toEqual([2, 2]);
    await namespaces.write("dev", () => ({ name: "dev", labels: {}, annotations: {}, createdAt, deleting: true }));
    await functions.remove({ namespace: "dev", name: "hello" });
    await eventually(async () => (await namespaces.get("dev")) === undefined, { what: "its end" });

    expect([docker.bridgeAddresses().length, (await containers()).length]).toEqual([1, 1]);
    const entries = await readdir(directory.path, { recursive: true });
    expect(entries.filter((path) => /(^|[/.])dev($|[/.])/.test(path))).toEqual([]);
    const [kept] = await endpoints.list();
    expect(await (await fetch(`http://${kept?.addresses[0]}/`)).text()).toBe("functions");
  });
});

function fail(): never {
  throw new Error("not deployed");
}

/** Runs a host with one replica for each, then kills it; returns the ids of the first container and replica. */
async function killedHost(
  data: string,
  started: readonly { readonly ref: FunctionRef; readonly generation: number }[] = [{ ref: hello, generation: 3 }],
): Promise<[container: string, replica: string]> {
  const support = pathToFileURL(join(repository, "test/support/docker-provider.ts")).href;
  const specs = started.map(({ ref, generation }) => ({
    ...echoSpec(ref, generation),
    secrets: ["key"],
    environment: { fprocess: "cat /var/service/secrets/key" },
  }));
  const code = `
    const { dockerProvider, runReplica } = await import(${JSON.stringify(support)});
    const provider = await dockerProvider({ socket: ${JSON.stringify(engine.socket)} }, ${JSON.stringify(data)});
    await provider.secrets.create({ namespace: "functions", name: "key" }, Buffer.from("one"));
    const ids = [];
    for (const spec of ${JSON.stringify(specs)}) ids.push((await runReplica(provider, spec)).id);
    console.log(ids[0]);
    setInterval(() => {}, 1_000);`;
  const host = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(host, "exit");
  const end = async (): Promise<void> => {
    host.kill("SIGKILL");
    await exited;
  };
  onTestFinished(end);
  const [id]: (Buffer | undefined)[] = await Promise.race([
    once(host.stdout, "data"),
    exited.then(([status]) => Promise.reject(new Error(`the host ended with ${status}`))),
  ]);
  await end();
  const replica = String(id).trim();
  const container = (await containers()).find(({ Names: names }) => names.some((name) => name.endsWith(replica)));
  expect(container?.State).toBe("running");
  return [container?.Id ?? "", replica];
}
