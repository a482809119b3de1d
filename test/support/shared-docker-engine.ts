import { request } from "node:http";
import { text } from "node:stream/consumers";

import { inject } from "vitest";

import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { baseImageName } from "../../runtime/api/version.ts";
import type { OwnDockerEngine } from "./docker-engine.ts";
import type { engineActs } from "./docker-engine-setup.ts";
import { machineLock } from "./machine-lock.ts";

/** The container engine of a suite, which one test file has at a time; `close` passes it on clean. */
export interface TestDockerEngine extends OwnDockerEngine {
  /** Runs functions: the watchdog with Node.js and a few programs. */
  readonly image: string;
  readonly client: EngineClient;
}

/** The engine of the suite, with the base image; waits while another test file has it. */
export async function openDockerEngine(): Promise<TestDockerEngine> {
  const path = inject("dockerEngine");
  // For this run only: the engine itself waits for other runs of this machine, whose files must not wait for ours.
  const lock = await machineLock(`file-with${path.slice(1)}`);
  let client: EngineClient | undefined;
  const close = async (): Promise<void> => {
    try {
      if (client !== undefined) await removeAll(client);
    } finally {
      await client?.close();
      await lock.release();
    }
  };
  try {
    const socket = await send(path, "open");
    client = new EngineClient(socket);
    const operation = (act: (typeof engineActs)[number]) => async (): Promise<void> => void (await send(path, act));
    return {
      socket,
      image: baseImageName,
      client,
      restart: operation("restart"),
      kill: operation("kill"),
      start: operation("start"),
      close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}

function send(socketPath: string, act: (typeof engineActs)[number]): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path: `/${act}`, method: "POST" }, (response) => {
      text(response).then((body) => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))), reject);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

interface Listed {
  readonly Id: string;
  readonly Name?: string;
  readonly RepoTags?: readonly string[] | null;
}

/** Removes what a test file left, so that the next one finds the engine clean. */
async function removeAll(client: EngineClient): Promise<void> {
  const list = async (path: string, query: Record<string, string> = { all: "1" }): Promise<readonly Listed[]> =>
    (await client.call<Listed[]>("GET", path, { query })).body ?? [];
  const force = { query: { force: "1", v: "1" } };
  for (const { Id } of await list("/containers/json")) await client.call("DELETE", `/containers/${Id}`, force);
  for (const { Id, Name = "" } of await list("/networks")) {
    if (!["bridge", "host", "none"].includes(Name)) await client.call("DELETE", `/networks/${Id}`);
  }
  for (const { Id, RepoTags } of await list("/images/json", {})) {
    // It stays if layers of another file build on it.
    const options = { query: { force: "1" }, expected: [404, 409] };
    if (RepoTags?.includes(baseImageName) !== true) await client.call("DELETE", `/images/${Id}`, options);
  }
}
