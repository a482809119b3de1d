import { createServer } from "node:http";
import { once } from "node:events";
import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openMachineLogs } from "../../runtime/adapters/machine/machine-logs.ts";
import { loggedFunctionsContract } from "../contract/logged-functions.contract.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };
const all = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };

let directory: TempDirectory;
const place = (...names: readonly string[]): string => join(directory.path, ...names);

beforeEach(async () => {
  directory = await tempDirectory("machine-logs");
});
afterEach(async () => directory.remove());

test("of provider local: functions with files of replicas, and for a while those whose last one ended", async () => {
  const { functions, source, close } = await openMachineLogs({ provider: "local", data: directory.path });
  expect(await functions.active()).toEqual([]);
  const logs = place("logs", "functions", "hello");
  await mkdir(join(logs, "ended"), { recursive: true });
  await writeFile(join(logs, "hello-1"), "2026-01-31T12:00:00.000000001Z one\n");
  await writeFile(join(logs, "hello-1.1"), "2026-01-31T11:00:00.000000001Z before\n");
  await writeFile(join(logs, "hello-2"), "");
  expect(await functions.active()).toEqual([{ ...hello, replicas: 2 }]);
  const records = await Array.fromAsync(source.read(all, new AbortController().signal));
  expect(records.map(({ text }) => text)).toEqual(["before\n", "one\n"]);

  for (const name of ["hello-1", "hello-1.1", "hello-2"]) await rm(join(logs, name));
  expect(await functions.active()).toEqual([{ ...hello, replicas: 0 }]);
  await utimes(join(logs, "ended"), new Date(0), new Date(0));
  expect(await functions.active()).toEqual([]);
  await close();
});

test("of no provider: none", async () => {
  const { functions } = await openMachineLogs({ provider: "none", data: directory.path });
  await mkdir(place("logs", "functions", "hello"), { recursive: true });
  expect(await functions.active()).toEqual([]);
});

/** An engine with containers and the log of each; a log that is followed stays open. */
async function openEngine(containers: () => readonly object[], log: string) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    response.setHeader("api-version", "1.45");
    if (!path.includes("/logs")) {
      const isList = path.includes("/containers/json");
      response.end(JSON.stringify(isList ? containers() : { ApiVersion: "1.45", MinAPIVersion: "1.24" }));
      return;
    }
    const body = Buffer.from(log);
    const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(body.length, 4);
    response.write(Buffer.concat([head, body]));
    if (!path.includes("follow=1")) response.end();
  });
  server.listen(place("engine.sock"));
  await once(server, "listening");
  return { requests, close: () => (server.close(), server.closeAllConnections()) };
}

/** A container as the engine lists it. */
function container(id: string, name: string, { namespace = "functions", replica = `${name}-${id}` } = {}) {
  const labels = { namespace, function: name, replica, instance: "0a1b2c3d", generation: "1", grace: "1000" };
  return { Id: id, Labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [`weir.${key}`, value])) };
}

async function writeInstance(): Promise<void> {
  await mkdir(place("docker"));
  await writeFile(place("docker", "instance"), "0a1b2c3d\n");
}

describe("LocalLoggedFunctions", () =>
  loggedFunctionsContract(async () => {
    const { functions, close } = await openMachineLogs({ provider: "local", data: directory.path });
    const fileOf = ({ namespace, name }: typeof hello, replica: string) => place("logs", namespace, name, replica);
    return {
      functions,
      start: async (ref, replica) => {
        await mkdir(place("logs", ref.namespace, ref.name), { recursive: true });
        await writeFile(fileOf(ref, replica), "");
      },
      end: (ref, replica) => rm(fileOf(ref, replica)),
      close,
    };
  }));

describe("ListedContainers", () =>
  loggedFunctionsContract(async () => {
    await writeInstance();
    const running = new Map<string, object>();
    const engine = await openEngine(() => [...running.values()], "");
    const { functions, close } = await openMachineLogs({
      provider: "docker",
      data: directory.path,
      engine: place("engine.sock"),
    });
    return {
      functions,
      start: async ({ namespace, name }, replica) => {
        running.set(replica, container(`${running.size}`, name, { namespace, replica }));
      },
      end: async (_ref, replica) => void running.delete(replica),
      close: async () => {
        engine.close();
        await close();
      },
    };
  }));

test("of provider docker: functions with containers of this installation, and their lines", async () => {
  await writeInstance();
  let containers = [container("1", "hello"), container("2", "hello"), { Id: "3", Labels: {} }];
  const engine = await openEngine(() => containers, "2026-01-31T12:00:00.000000001Z one\n");
  const { functions, source, close } = await openMachineLogs({
    provider: "docker",
    data: directory.path,
    engine: place("engine.sock"),
  });
  try {
    expect(await functions.active()).toEqual([{ ...hello, replicas: 2 }]);
    expect(decodeURIComponent(engine.requests.at(-1) ?? "")).toContain('"weir.instance=0a1b2c3d"');
    const found: string[] = [];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { instance, text } of source.read({ ...all, follow: true }, stop.signal))
        found.push(`${instance} ${text}`);
    })();
    await eventually(() => found.length === 2, { what: "the lines of both" });
    containers = [container("4", "hello"), container("5", "other")];
    expect(await functions.active()).toEqual([
      { ...hello, replicas: 1 },
      { ...hello, name: "other", replicas: 1 },
    ]);
    await eventually(() => found.length === 3, { what: "the line of the new one" });
    stop.abort();
    await reading;
    expect(found.toSorted()).toEqual(["hello-1 one\n", "hello-2 one\n", "hello-4 one\n"]);
  } finally {
    engine.close();
    await close();
  }
});
