import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";

import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { MemoryEndpoints } from "../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import { MemorySecretStore } from "../support/memory/memory-secret-store.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { Replicas } from "../../runtime/core/ports/replicas.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildProvider } from "../../runtime/provider/build-provider.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { dockerProvider } from "../support/docker-provider.ts";
import { eventually } from "../support/eventually.ts";
import { familyCounts, familyProgram, FamilyReplicas, type FamilyImage } from "../support/family-replicas.ts";
import { freePort } from "../support/free-port.ts";
import { callAny, settled } from "../support/provider-view.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };
/** Probe connections after which a program would have been started. */
const manyProbes = 6;
const within = 60_000;

type Ending = Pick<TestContext, "onTestFinished">;

/** A provider of one function on `replicas`, and what a gateway would do with it. */
async function openFamily(replicas: Replicas, { onTestFinished }: Ending) {
  const functions = new MemoryFunctionStore();
  const endpoints = new MemoryEndpoints();
  const provider = buildProvider({
    functions,
    namespaces: new MemoryNamespaceStore(),
    secrets: new MemorySecretStore(),
    replicas,
    endpoints,
    prober: new HttpProber(),
    gatewayUrl: "http://gateway",
    secretsDirectory: () => "/secrets",
    upstreamTimeout: 5_000,
    log: createLog("test", "silent"),
  });
  await provider.open();
  onTestFinished(async () => {
    await provider.close();
    await replicas.close();
  });
  const deploy = async (over: Partial<FunctionDeployment>): Promise<void> => {
    const deployment = { service: "hello", image: "example/family:1", ...over };
    const now = new Date().toISOString();
    await functions.write(hello, (current) => desireFunction(current, hello.namespace, deployment, now));
  };
  const scale = async (count: number): Promise<readonly string[]> => {
    await functions.write(hello, (current) => {
      if (current === undefined) throw new Error("not deployed");
      return { ...current, replicas: count };
    });
    return (await settled(endpoints, count, 1, within)).addresses;
  };
  const ready = async (): Promise<readonly string[]> => (await settled(endpoints, 1, 1, within)).addresses;
  return { deploy, scale, ready };
}

/** Resolves with the counts once there were many probes. */
async function probed([address = ""]: readonly string[]) {
  return await eventually(
    async () => {
      const counts = await familyCounts(address);
      return counts.connections >= manyProbes ? counts : undefined;
    },
    // Each poll is a connection too: they are rare enough that most connections are probes.
    { within, what: `${manyProbes} connections`, every: 3_000 },
  );
}

async function classicImage(replicas: Replicas, image: string, ending: Ending): Promise<void> {
  const { deploy, scale, ready } = await openFamily(replicas, ending);
  await deploy({ image, envProcess: "echo hi" });
  const first = await ready();
  expect((await probed(first)).starts).toBe(0);
  expect(await callAny(first)).toBe("hi\n");
  expect((await familyCounts(first[0] ?? "")).starts).toBe(1);

  expect(await scale(0)).toEqual([]);
  const second = await scale(1);
  expect(await callAny(second)).toBe("hi\n");
  expect((await familyCounts(second[0] ?? "")).starts).toBe(1);
}

async function httpImage(replicas: Replicas, image: string, ending: Ending): Promise<void> {
  const { deploy, scale, ready } = await openFamily(replicas, ending);
  const port = await freePort();
  const server = `require("http").createServer((q,r)=>r.end("hi"+q.url)).listen(${port})`;
  await deploy({
    image,
    envProcess: `node -e ${server}`,
    envVars: { upstream_url: `http://127.0.0.1:${port}` },
  });
  const first = await ready();
  expect((await probed(first)).starts).toBe(1);
  expect(await callAny(first)).toBe("hi/");

  expect(await scale(0)).toEqual([]);
  const second = await scale(1);
  expect(await eventually(() => callAny(second), { what: "its program" })).toBe("hi/");
}

// Each waits for probes most of its time.
describe.concurrent("images of the family", () => {
  test("probes never start the program of a classic watchdog; it is called, scaled to zero and woken", (context) =>
    classicImage(new FamilyReplicas("classic-watchdog"), "example/classic:1", context));

  test("an HTTP watchdog becomes ready, is called, scaled to zero and woken", (context) =>
    httpImage(new FamilyReplicas("http-watchdog"), "example/http:1", context));
});

describe.skipIf(noDockerEngine() !== undefined).concurrent("images of the family as containers", () => {
  let engine: TestDockerEngine;
  beforeAll(async () => {
    engine = await openDockerEngine();
  }, 300_000);
  afterAll(() => engine?.close(), 120_000);

  const inContainers = async (
    image: FamilyImage,
    check: (replicas: Replicas, name: string, ending: Ending) => Promise<void>,
    ending: Ending,
  ): Promise<void> => {
    const { onTestFinished } = ending;
    const name = await imageOf(engine, image);
    const directory = await tempDirectory("family");
    onTestFinished(() => directory.remove());
    const docker = await dockerProvider(engine, directory.path);
    onTestFinished(() => docker.close());
    await check(docker.replicas, name, ending);
  };

  test("probes never start the program of a classic watchdog; it is called, scaled to zero and woken", async (context) => {
    await inContainers("classic-watchdog", classicImage, context);
  }, 300_000);

  test("an HTTP watchdog becomes ready, is called, scaled to zero and woken", async (context) => {
    await inContainers("http-watchdog", httpImage, context);
  }, 300_000);
});

/** Builds an image from the base image whose command is the stand-in. */
async function imageOf({ client, image: base }: TestDockerEngine, image: FamilyImage): Promise<string> {
  const code = await readFile(familyProgram(image), "utf8");
  const body = { Image: base, Cmd: ["node", "--input-type=module-typescript", "-e", code], Entrypoint: [] };
  const made = await client.call<{ Id: string }>("POST", "/containers/create", { body });
  const container = made.body?.Id ?? "";
  const [repo, tag] = [`example/${image}`, "1"];
  await client.call("POST", "/commit", { query: { container, repo, tag }, body: {} });
  await client.call("DELETE", `/containers/${container}`);
  return `${repo}:${tag}`;
}
