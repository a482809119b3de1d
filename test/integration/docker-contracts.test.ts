import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";

import { holdLock } from "../../runtime/process/hold-lock.ts";
import { DockerLogSource } from "../../runtime/adapters/machine/docker/docker-log-source.ts";
import { MemoryUsage } from "../support/memory/memory-usage.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { Replicas } from "../../runtime/core/ports/replicas.ts";
import { echoSpec, replicasContract } from "../contract/replicas.contract.ts";
import { logSourceContract } from "../contract/log-source.contract.ts";
import { secretStoreContract } from "../contract/secret-store.contract.ts";
import { usageContract, type OpenUsage } from "../contract/usage.contract.ts";
import { workloadTokenContract } from "../contract/workload-token.contract.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { dockerProvider, runReplica, tagEcho } from "../support/docker-provider.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory } from "../support/temp-directory.ts";

let engine: TestDockerEngine;

const busyLoop = `sh -c 'while :; do :; done'`;

/** Starts and ends functions for the usage contract. */
function usageOf(replicas: Replicas): Pick<OpenUsage, "start" | "end"> {
  const ofFunction = async (ref: FunctionRef) =>
    (await replicas.list()).filter(({ namespace, name }) => namespace === ref.namespace && name === ref.name);
  return {
    start: async (ref, busy) => {
      const environment = busy ? { mode: "http", fprocess: busyLoop } : { fprocess: "cat" };
      await replicas.start({ ...echoSpec(ref), environment });
      await eventually(async () => (await ofFunction(ref)).some(({ state }) => state === "running"), {
        what: "a running replica",
      });
    },
    end: async (ref) => {
      for (const { id } of await ofFunction(ref)) await replicas.stop(id);
    },
  };
}

describe("MemoryUsage", () =>
  usageContract(async () => {
    const usage = new MemoryUsage();
    return {
      usage,
      start: async (ref, busy) => usage.set(ref, { cpu: busy ? 1_000 : 0, totalMemoryBytes: 50_000_000 }),
      end: async (ref) => usage.remove(ref),
      close: async () => {},
    };
  }));

describe.skipIf(process.platform !== "linux")("LocalUsage", () =>
  usageContract(async () => {
    const directory = await tempDirectory("usage");
    const data = directory.path;
    const provider = await openLocalProvider({
      data,
      secrets: join(data, "secrets"),
      logs: join(data, "logs"),
      holdLock,
    });
    return {
      usage: provider.usage,
      ...usageOf(provider.replicas),
      close: async () => {
        await provider.close();
        await directory.remove();
      },
    };
  }),
);

describe.skipIf(noDockerEngine() !== undefined)("with a container engine", () => {
  beforeAll(async () => {
    engine = await openDockerEngine();
    await tagEcho(engine);
  }, 300_000);
  afterAll(() => engine?.close(), 120_000);

  async function opened() {
    const directory = await tempDirectory("docker-data");
    const provider = await dockerProvider(engine, directory.path);
    const instance = (await readFile(join(directory.path, "docker", "instance"), "utf8")).trim();
    const close = async (): Promise<void> => {
      await provider.close();
      await directory.remove();
    };
    return { provider, instance, directory: directory.path, close };
  }

  describe("DockerReplicas", () =>
    replicasContract(async () => {
      const { provider, instance, close } = await opened();
      return {
        replicas: provider.replicas,
        end: async ({ id }) => {
          await engine.client.call("POST", `/containers/weir-${instance}-${id}/kill`);
        },
        close,
      };
    }));

  describe("workload tokens of the docker provider", () => {
    let opening: Awaited<ReturnType<typeof opened>>;
    beforeAll(async () => {
      opening = await opened();
    });
    afterAll(() => opening?.close());
    workloadTokenContract({
      engine: () => opening.provider,
      run: async (ref, script, environment) => {
        const fprocess = `sh -c '${script}'`;
        const spec = { ...ref, envProcess: fprocess, environment: { ...environment, fprocess } };
        const { id, url } = await runReplica(opening.provider, spec);
        return { id, call: async () => (await fetch(url, { method: "POST" })).text() };
      },
    });
  });

  describe("secrets of the docker provider", () =>
    secretStoreContract(async () => {
      const { provider, directory, close } = await opened();
      return {
        store: provider.secrets,
        valueOf: ({ namespace, name }) => readFile(join(directory, "secrets", namespace, name)).catch(() => undefined),
        close,
      };
    }));

  describe("DockerLogSource", () => logSourceContract(openLogs));

  describe("DockerUsage", () =>
    usageContract(async () => {
      const { provider, close } = await opened();
      return { usage: provider.usage, ...usageOf(provider.replicas), close };
    }));
});

/** Containers that write what they are told, one per replica. */
async function openLogs() {
  const { client, image } = engine;
  const containers = new Map<string, { readonly ref: FunctionRef; readonly id: string; readonly container: string }>();
  const listeners = new Set<(ref: FunctionRef) => void>();
  const mark = Math.random().toString(36).slice(2);
  const ofFunction = (ref: FunctionRef) =>
    [...containers.values()].filter((each) => formatRef(each.ref) === formatRef(ref));
  const source = new DockerLogSource(client, {
    containersOf: ofFunction,
    knows: (ref) => ofFunction(ref).length > 0,
    onChange: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  });
  const remove = async (id: string): Promise<void> => {
    const container = containers.get(id)?.container ?? "";
    containers.delete(id);
    await client.call("DELETE", `/containers/${container}`, { query: { force: "1" }, expected: [404] });
  };
  const start = async (ref: FunctionRef, id: string): Promise<string> => {
    const container = `weir-log-${mark}-${id}`;
    // Only the first process's output is kept: other processes write to it.
    const body = { Image: image, Cmd: ["sleep", "1000"], HostConfig: { NetworkMode: "none" } };
    await client.call("POST", "/containers/create", { query: { name: container }, body });
    await client.call("POST", `/containers/${container}/start`);
    containers.set(id, { ref, id, container });
    for (const changed of listeners) changed(ref);
    return container;
  };
  const writeTo =
    (output: 1 | 2) =>
    async (ref: FunctionRef, id: string, text: string): Promise<void> => {
      const container = containers.get(id)?.container ?? (await start(ref, id));
      const body = { Cmd: ["sh", "-c", `printf "%s\\n" "$0" >/proc/1/fd/${output}`, text] };
      const exec = await client.call<{ Id: string }>("POST", `/containers/${container}/exec`, { body });
      const before = await lineCount(container);
      await client.call("POST", `/exec/${exec.body?.Id}/start`, { body: { Detach: true } });
      await eventually(async () => (await lineCount(container)) > before, { what: "the line" });
    };
  return {
    source,
    write: writeTo(1),
    writeError: writeTo(2),
    removeReplica: (_ref: FunctionRef, id: string) => remove(id),
    close: async () => {
      await Promise.all([...containers.keys()].map(remove));
    },
  };
}

async function lineCount(container: string): Promise<number> {
  const stream = await engine.client.stream("GET", `/containers/${container}/logs`, {
    query: { stdout: "1", stderr: "1" },
  });
  let count = 0;
  for await (const chunk of stream) count += (chunk as Buffer).toString("latin1").split("\n").length - 1;
  return count;
}
