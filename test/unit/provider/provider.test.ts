import { generateKeyPairSync } from "node:crypto";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { MemoryCallbackSecrets } from "../../support/memory/memory-callback-secrets.ts";
import { MemoryEndpoints } from "../../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../../support/memory/memory-namespace-store.ts";
import { MemoryReplicas } from "../../support/memory/memory-replicas.ts";
import { MemorySecretStore } from "../../support/memory/memory-secret-store.ts";
import type { FunctionDeployment } from "../../../runtime/api/schemas/function-deployment.ts";
import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import type { FunctionEndpoints } from "../../../runtime/core/ports/endpoints.ts";
import type { Prober, ProbeResult } from "../../../runtime/core/ports/prober.ts";
import type { Replica, ReplicaSpec } from "../../../runtime/core/ports/replicas.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { buildProvider, type Provider, type ProviderParts } from "../../../runtime/provider/build-provider.ts";
import { eventually } from "../../support/eventually.ts";

const hello = { namespace: "functions", name: "hello" };

/** Every address is ready and healthy, except those in `down`. */
class FakeProber implements Prober {
  readonly down = new Set<string>();
  readonly probed: string[] = [];
  async probe(address: string, path: string | undefined): Promise<ProbeResult> {
    this.probed.push(`${address}${path}`);
    return { kind: this.down.has(address) ? "refused" : "passed" };
  }
}

/** Records what was stopped and what was published, in order. */
class RecordingReplicas extends MemoryReplicas {
  readonly events: string[];
  constructor(events: string[]) {
    super();
    this.events = events;
  }
  /** Called before each start. */
  onStart = (): void => {};
  override async start(spec: ReplicaSpec): Promise<Replica> {
    this.onStart();
    return super.start(spec);
  }
  override async stop(id: string): Promise<void> {
    const address = (await this.list()).find((replica) => replica.id === id)?.address;
    this.events.push(`stop ${address}`);
    await super.stop(id);
  }
}

let functions: MemoryFunctionStore;
let endpoints: MemoryEndpoints;
let replicas: RecordingReplicas;
let prober: FakeProber;
let provider: Provider;
let events: string[];

beforeEach(() => {
  events = [];
  functions = new MemoryFunctionStore();
  endpoints = new MemoryEndpoints();
  replicas = new RecordingReplicas(events);
  prober = new FakeProber();
  provider = build();
});
afterEach(() => provider.close());

function build(over: Partial<ProviderParts> = {}): Provider {
  return buildProvider({
    functions,
    namespaces: new MemoryNamespaceStore(),
    secrets: new MemorySecretStore(),
    replicas,
    endpoints,
    prober,
    gatewayUrl: "http://gateway",
    secretsDirectory: () => "/secrets",
    upstreamTimeout: 30_000,
    log: createLog("test", "silent"),
    ...over,
  });
}

async function deploy(over: Partial<FunctionDeployment> = {}): Promise<void> {
  const deployment = { service: "hello", image: "example/hello:1", envProcess: "cat", ...over };
  await functions.write(hello, (current) => desireFunction(current, "functions", deployment, new Date().toISOString()));
}

async function scale(count: number): Promise<void> {
  await functions.write(hello, (current) => {
    if (current === undefined) throw new Error("not deployed");
    return { ...current, replicas: count };
  });
}

async function published(ready: (entry: FunctionEndpoints) => boolean, what: string): Promise<FunctionEndpoints> {
  return await eventually(
    async () => (await endpoints.list()).find((entry) => entry.name === "hello" && ready(entry)),
    {
      what,
      every: 2,
    },
  );
}

const withReady = (count: number) => published(({ addresses }) => addresses.length === count, `${count} addresses`);
const condition = (entry: FunctionEndpoints, type: string) => entry.conditions.find((found) => found.type === type);

describe("provider", () => {
  test("reconciles existing and new functions", async () => {
    await deploy();
    await provider.open();
    const entry = await withReady(1);

    expect(entry).toMatchObject({ observedGeneration: 1, addresses: ["127.0.0.1:1"] });
    expect(entry.names).toEqual({ "127.0.0.1:1": "hello-1" });
    const settled = await published((found) => condition(found, "Reconciling")?.status === "False", "rest");
    expect(settled.conditions.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "Ready True",
      "Healthy True",
      "Reconciling False",
      "Stalled False",
    ]);
    expect(replicas.specOf("hello-1")).toMatchObject({
      ...hello,
      generation: 1,
      envProcess: "cat",
      grace: 31_000,
      environment: {
        fprocess: "cat",
        OPENFAAS_NAME: "hello",
        GATEWAY_URL: "http://gateway",
        SERVICE_SECRETS_DIR: "/secrets",
      },
    });
  });

  test("a function that names a service account has a token before its first replica starts, and only then", async () => {
    const { privateKey: key } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    provider = build({ identity: { issuer: "https://weir.example", key } });
    const tokens: (string | undefined)[] = [];
    replicas.onStart = () => void tokens.push(replicas.tokenOf(hello));
    await deploy({ annotations: { "com.service.serviceaccount": "reader" } });
    await provider.open();
    await withReady(1);
    expect(tokens).toEqual([expect.stringMatching(/^ey/)]);
    expect(replicas.specOf("hello-1")?.environment["SERVICE_TOKEN_FILE"]).toBe("/secrets/.service-token");
    await deploy();
    await eventually(() => replicas.specOf("hello-2") !== undefined, { what: "the next replica" });
    expect(replicas.tokenOf(hello)).toBeUndefined();
    expect(replicas.specOf("hello-2")?.environment).not.toHaveProperty("SERVICE_TOKEN_FILE");
  });

  test("removes what an earlier process published before it is open", async () => {
    const old = { namespace: "functions", observedGeneration: 1, conditions: [], addresses: ["127.0.0.1:99"] };
    await endpoints.publish({ ...old, name: "gone" });
    await endpoints.publish({ ...old, name: "hello" });
    await deploy();
    prober.down.add("127.0.0.1:1");
    await provider.open();
    expect((await endpoints.list()).flatMap(({ addresses }) => addresses)).toEqual([]);

    await eventually(async () => (await endpoints.list()).every(({ name }) => name === "hello"), {
      what: "the removal",
    });
  });

  test("publishes a scale-down before it stops a replica", async () => {
    await deploy();
    await provider.open();
    await scale(3);
    await withReady(3);
    await endpoints.watch({
      set: ({ addresses }) => events.push(`publish ${addresses.join()}`),
      removed: () => events.push("removed"),
      synced: () => events.splice(0),
    });
    await scale(1);
    await eventually(() => events.filter((event) => event.startsWith("stop")).length === 2, {
      what: "two stops",
    });

    expect(events.indexOf("publish 127.0.0.1:1")).toBe(0);
    expect(events.filter((event) => event.startsWith("stop")).sort()).toEqual(["stop 127.0.0.1:2", "stop 127.0.0.1:3"]);
  });

  test("scales to zero and back", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    await scale(0);
    const zero = await published(
      (entry) =>
        condition(entry, "Ready")?.reason === "ScaledToZero" && condition(entry, "Reconciling")?.status === "False",
      "sleep",
    );
    expect(zero.addresses).toEqual([]);
    expect(await replicas.list()).toEqual([]);
    await scale(1);

    expect((await withReady(1)).addresses).toEqual(["127.0.0.1:2"]);
  });

  test("a new generation replaces the old one while something is always ready", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    const counts: number[] = [];
    await endpoints.watch({
      set: ({ addresses }) => counts.push(addresses.length),
      removed: () => counts.push(0),
      synced: () => {},
    });
    prober.down.add("127.0.0.1:2");
    await deploy();
    await published((entry) => condition(entry, "Reconciling")?.reason === "Rolling", "rolling");
    prober.down.delete("127.0.0.1:2");
    const rolled = await published(
      ({ addresses, conditions }) =>
        addresses.join() === "127.0.0.1:2" && conditions.some(({ reason }) => reason === "Settled"),
      "the new generation",
    );

    expect(rolled.observedGeneration).toBe(2);
    expect(Math.min(...counts)).toBe(1);
    expect((await replicas.list()).map(({ id }) => id)).toEqual(["hello-2"]);
  });

  test("removes everything of a removed function, then what its replicas left", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    await functions.remove(hello);
    await eventually(() => replicas.forgotten.length === 1, { what: "forget()" });

    expect(await endpoints.list()).toEqual([]);
    expect(await replicas.list()).toEqual([]);
  });

  test("removes orphans of an earlier process, and nothing of existing functions", async () => {
    await deploy();
    replicas.leave(hello);
    replicas.leave({ namespace: "functions", name: "gone" });
    await provider.open();
    await withReady(1);
    await eventually(() => replicas.forgotten.length > 0, { what: "forget()" });

    expect(new Set(replicas.forgotten.map(({ name }) => name))).toEqual(new Set(["gone"]));
  });

  test("a function that is removed and recreated at once runs none of its old replicas", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    await functions.remove(hello);
    await functions.write(hello, () =>
      desireFunction(undefined, "functions", { service: "hello", image: "other:2" }, "2026-02-02T00:00:00.000Z"),
    );
    await published(({ addresses }) => addresses.join() === "127.0.0.1:2", "the new one");
    await eventually(async () => (await replicas.list()).length === 1, {
      what: "the end of the old one",
    });

    expect(replicas.specOf("hello-2")?.image).toBe("other:2");
  });

  test("a crash is a condition, and the replica is restarted after a back-off", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    const crashedAt = Date.now();
    replicas.exit("hello-1", { reason: "Error", message: "The process ended with code 3" });
    const crashed = await published(({ addresses }) => addresses.length === 0, "no address");
    expect(condition(crashed, "Healthy")).toMatchObject({
      status: "False",
      reason: "Error",
      message: "The process ended with code 3",
    });
    await withReady(1);
    expect(Date.now() - crashedAt).toBeGreaterThanOrEqual(375);

    replicas.exit("hello-2", { reason: "Error", message: "The process ended with code 3" });
    const looping = await published((entry) => condition(entry, "Stalled")?.status === "True", "a stall");
    expect(condition(looping, "Stalled")?.reason).toBe("CrashLoopBackOff");
  });

  test("a replica that ended with its container engine is replaced at once, however often that happens", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    const stalls: unknown[] = [];
    await endpoints.watch({
      set: (entry) => void stalls.push(condition(entry, "Stalled")?.status),
      removed: () => {},
      synced: () => {},
    });
    for (let number = 1; number <= 6; number += 1) {
      replicas.exit(`hello-${number}`, { reason: "EngineRestarted", message: "The engine was restarted" });
      const isReplaced = async () => (await replicas.list()).some(({ id }) => id === `hello-${number + 1}`);
      await eventually(isReplaced, { what: "the next one" });
      await withReady(1);
    }
    expect(new Set(stalls)).toEqual(new Set(["False"]));
  });

  test("a missing secret stalls the function and is named, and a deployment retries at once", async () => {
    const message = 'Cannot start function "hello.functions": secret "key" does not exist';
    replicas.refuseStarts(new PlatformError("secret_not_found", message));
    await deploy({ secrets: ["key"] });
    await provider.open();
    const stalled = await published((entry) => condition(entry, "Stalled")?.status === "True", "a stall");
    expect(condition(stalled, "Stalled")).toMatchObject({ reason: "SecretNotFound", message });
    replicas.refuseStarts(undefined);
    await deploy();
    const entry = await withReady(1);

    expect(condition(entry, "Stalled")?.status).toBe("False");
  });

  test("a replica that fails its health probe is replaced", async () => {
    await deploy({
      annotations: { "com.service.health.http.periodSeconds": "1", "com.service.health.http.failureThreshold": "1" },
    });
    await provider.open();
    await withReady(1);
    prober.down.add("127.0.0.1:1");
    const entry = await published(({ addresses }) => addresses.includes("127.0.0.1:2"), "another replica");

    expect(entry.addresses).toEqual(["127.0.0.1:2"]);
  });

  test("a replica that is no longer ready gets no calls until it is ready again", async () => {
    await deploy({
      annotations: {
        "com.service.ready.http.periodSeconds": "1",
        "com.service.ready.http.failureThreshold": "1",
        "com.service.ready.http.path": "/r",
        "com.service.health.http.periodSeconds": "60",
      },
    });
    await provider.open();
    await withReady(1);
    expect(prober.probed).toContain("127.0.0.1:1/r");
    prober.down.add("127.0.0.1:1");
    await withReady(0);
    prober.down.delete("127.0.0.1:1");

    expect((await withReady(1)).addresses).toEqual(["127.0.0.1:1"]);
  });

  test("exclusive replicas are rolled one after the other", async () => {
    await deploy();
    await provider.open();
    await withReady(1);
    prober.down.add("127.0.0.1:2");
    await deploy();
    await eventually(() => replicas.specOf("hello-2"), { what: "the second replica" });
    replicas.exit("hello-2", { reason: "PortInUse", message: "port 3000 is in use" });
    await eventually(async () => (await replicas.list()).every(({ id }) => id === "hello-3"), {
      what: "the old one gone",
    });

    expect((await published(({ addresses }) => addresses.length === 1, "the new one")).addresses).toEqual([
      "127.0.0.1:3",
    ]);
  });

  test("containers get the port and are probed there; a failing probe is in the conditions after 5 s", async () => {
    let ahead = 0;
    const containers = new MemoryReplicas({ port: 8_080, handlesProbes: false });
    provider = build({ replicas: containers, now: () => Date.now() + ahead });
    prober.down.add("127.0.0.1:1");
    await deploy();
    await provider.open();
    await eventually(() => prober.probed.includes("127.0.0.1:1undefined"), { what: "a probe" });
    expect(containers.specOf("hello-1")?.environment).toMatchObject({ PORT: "8080" });
    ahead = 5_000;
    const reason = "Replica hello-1 is not ready: the process runs, but nothing listens on port 1 ($PORT)";
    const entry = await published((found) => condition(found, "Reconciling")?.reason === "NotReady", "the reason");

    expect(condition(entry, "Ready")?.message).toBe(`0 of 1 replicas are ready: ${reason}`);
    expect(condition(entry, "Reconciling")?.message).toBe(reason);
    expect(condition(entry, "Stalled")?.status).toBe("False");
    prober.down.clear();
    await withReady(1);
    expect(prober.probed.filter((probed) => probed.includes("/_/"))).toEqual([]);
  });

  test("a secret that callbacks cannot be signed with is a condition, and replicas run", async () => {
    const callbackSecrets = new MemoryCallbackSecrets();
    provider = build({ callbackSecrets });
    await deploy({ annotations: { "com.service.callback.secret": "signing" } });
    await provider.open();
    const faulty = await published(
      (entry) => entry.addresses.length === 1 && condition(entry, "Stalled")?.status === "True",
      "the condition",
    );
    expect(condition(faulty, "Ready")?.status).toBe("True");
    expect(condition(faulty, "Stalled")).toMatchObject({
      reason: "CallbackSecretUnusable",
      message:
        'Cannot sign callbacks of function "hello.functions": secret "signing" cannot be used: it does not exist',
    });
    callbackSecrets.set({ namespace: "functions", name: "signing" }, Buffer.alloc(32, "k"));
    await scale(2);
    await published((entry) => condition(entry, "Stalled")?.status === "False", "the condition to pass");
  });

  test("recovers when endpoints cannot be published for a while", async () => {
    let failing = true;
    const publish = endpoints.publish.bind(endpoints);
    endpoints.publish = async (entry) => {
      if (failing) throw new PlatformError("provider_unavailable", "the broker is away");
      await publish(entry);
    };
    await deploy();
    await provider.open();
    failing = false;

    await withReady(1);
  });

  test("check() reports when replicas cannot be started", async () => {
    expect(provider.check()).toContain("starting");
    await provider.open();
    expect(provider.check()).toBeUndefined();
    replicas.setUnavailable("Cannot reach the engine: it is away");

    await eventually(() => provider.check() === "Cannot reach the engine: it is away", {
      what: "the sentence",
    });
  });

  test("reconciles 100 functions at once", async () => {
    await provider.open();
    const refs = Array.from({ length: 100 }, (_, index) => ({ namespace: "functions", name: `f${index}` }));
    for (const ref of refs) {
      await functions.write(ref, () =>
        desireFunction(undefined, "functions", { service: ref.name, image: "x" }, "2026-01-01T00:00:00.000Z"),
      );
    }

    await eventually(
      async () => (await endpoints.list()).filter(({ addresses }) => addresses.length === 1).length === 100,
      { what: "100 functions" },
    );
  });
});
