import { createServer, type Server } from "node:http";

import type { TestProject } from "vitest/node";

import { environment } from "../../runtime/process/settings.ts";
import { startDockerEngine, type OwnDockerEngine } from "./docker-engine.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket at which test files request the engine of their suite. */
    dockerEngine: string;
  }
}

/** Operations that a test file may request of the engine that all files of a suite share. */
export const engineActs = ["open", "kill", "start", "restart"] as const;

/**
 * Names the abstract socket, without its first byte 0, at which another run serves its engine: a suite that a test starts uses the
 * engine of that test's run, as it would wait for its end to have its own.
 */
export const engineVariable = "WEIR_TEST_ENGINE";

/**
 * Keeps one container engine for all files of a run, from the first request to the end. Suites that run in one process
 * share the engine of the first.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = environment()[engineVariable];
  if (given !== undefined) {
    project.provide("dockerEngine", `\0${given}`);
    return async () => {};
  }
  let engine: Promise<OwnDockerEngine> | undefined;
  let killed = false;
  const act = async (name: (typeof engineActs)[number]): Promise<string> => {
    const opened = await (engine ??= startDockerEngine());
    if (name !== "open") await opened[name]();
    // A test file failed between "kill" and "start".
    else if (killed) await opened.start();
    killed = name === "kill";
    return opened.socket;
  };
  const server = createServer((request, response) => {
    const name = engineActs.find((each) => request.url === `/${each}`) ?? "open";
    act(name).then(
      (socket) => response.end(socket),
      (err: unknown) => response.writeHead(500).end(err instanceof Error ? (err.stack ?? err.message) : String(err)),
    );
  });
  // An abstract socket: no file remains.
  const path = `\0weir-docker-engine-of-${process.pid}`;
  project.provide("dockerEngine", path);
  const isFirst = process.platform === "linux" && (await listens(server, path));
  return async () => {
    if (!isFirst) return;
    server.close();
    await (await engine?.catch(() => undefined))?.close();
  };
}

function listens(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => server.once("error", () => resolve(false)).listen(path, () => resolve(true)));
}
