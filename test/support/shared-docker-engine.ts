import { request } from "node:http";
import { text } from "node:stream/consumers";

import { inject } from "vitest";

import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { baseImageName } from "../../runtime/api/version.ts";
import type { OwnDockerEngine } from "./docker-engine.ts";
import type { engineActs } from "./docker-engine-setup.ts";
import { machineLock } from "./machine-lock.ts";

/** The container engine of a suite, which one test file has at a time; `close` hands it on as it was. */
export interface TestDockerEngine extends OwnDockerEngine {
  /** Runs functions: the watchdog with Node.js and a few programs. */
  readonly image: string;
  readonly client: EngineClient;
}

/** The engine of the suite, with the base image; waits while another test file has it. */
export async function openDockerEngine(): Promise<TestDockerEngine> {
  const path = inject("dockerEngine");
  // Of this run alone: the engine itself waits for the other runs of this machine, whose files must not wait for this one's.
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
    const socket = await ask(path, "open");
    client = new EngineClient(socket);
    const tell = (act: (typeof engineActs)[number]) => async (): Promise<void> => void (await ask(path, act));
    return {
      socket,
      image: baseImageName,
      client,
      restart: tell("restart"),
      kill: tell("kill"),
      start: tell("start"),
      close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}

function ask(socketPath: string, act: (typeof engineActs)[number]): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: `/${act}`, method: "POST" }, (response) => {
      text(response).then((said) => (response.statusCode === 200 ? resolve(said) : reject(new Error(said))), reject);
    });
    asked.once("error", reject);
    asked.end();
  });
}

interface Listed {
  readonly Id: string;
  readonly Name?: string;
  readonly RepoTags?: readonly string[] | null;
}

/** What a test file left: the next one finds the engine as a fresh one. */
async function removeAll(client: EngineClient): Promise<void> {
  const list = async (path: string, query: Record<string, string> = { all: "1" }): Promise<readonly Listed[]> =>
    (await client.call<Listed[]>("GET", path, { query })).body ?? [];
  const force = { query: { force: "1", v: "1" } };
  for (const { Id } of await list("/containers/json")) await client.call("DELETE", `/containers/${Id}`, force);
  for (const { Id, Name = "" } of await list("/networks")) {
    if (!["bridge", "host", "none"].includes(Name)) await client.call("DELETE", `/networks/${Id}`);
  }
  for (const { Id, RepoTags } of await list("/images/json", {})) {
    // Another file's layers may build on it: then it stays.
    const kept = { query: { force: "1" }, expected: [404, 409] };
    if (RepoTags?.includes(baseImageName) !== true) await client.call("DELETE", `/images/${Id}`, kept);
  }
}
