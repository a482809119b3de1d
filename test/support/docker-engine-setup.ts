import { createServer, type Server } from "node:http";

import type { TestProject } from "vitest/node";

import { startDockerEngine, type OwnDockerEngine } from "./docker-engine.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket at which test files ask for the engine of their suite. */
    dockerEngine: string;
  }
}

/** What a test file may ask of the engine that all files of a suite share. */
export const engineActs = ["open", "kill", "start", "restart"] as const;

/**
 * Keeps one container engine for all files of a run, from the first that asks for one to the end. Where several suites run in
 * one process they share the first one's.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let engine: Promise<OwnDockerEngine> | undefined;
  let killed = false;
  const act = async (name: (typeof engineActs)[number]): Promise<string> => {
    const opened = await (engine ??= startDockerEngine());
    if (name !== "open") await opened[name]();
    // Left by a file that failed in between.
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
  // A name in no directory: nothing is left of it.
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
