import { join } from "node:path";

import { afterAll, beforeAll, describe } from "vitest";

import { dockerEngine } from "../../runtime/adapters/machine/docker/docker-engine.ts";
import { localEngine } from "../../runtime/adapters/machine/local/local-engine.ts";
import type { Engine } from "../../runtime/core/ports/engine.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { createLog } from "../../runtime/process/log.ts";
import { engineContract, type UsableEngine } from "../contract/engine.contract.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { tagEcho } from "../support/docker-provider.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** The engine, with a data directory as a host has it. */
async function usable(engine: Engine): Promise<UsableEngine> {
  const directory = await tempDirectory("engine");
  const data = directory.path;
  const place = {
    data,
    secrets: join(data, "secrets"),
    logs: join(data, "logs"),
    run: join(data, "run"),
    snapshots: join(data, "snapshots"),
    platformNamespace: "weir",
    gatewayPort: 8080,
    defaultLimits: { memory: "512Mi", cpu: "1" },
    log: createLog("test", "error"),
  };
  return { engine, place, close: () => directory.remove() };
}

describe("localEngine", () => engineContract(() => usable(localEngine(holdLock, {}))));

describe.skipIf(noDockerEngine() !== undefined)("dockerEngine", () => {
  let engine: TestDockerEngine;

  beforeAll(async () => {
    engine = await openDockerEngine();
    await tagEcho(engine);
  }, 300_000);
  afterAll(() => engine?.close(), 120_000);

  engineContract(() => usable(dockerEngine(engine.socket, undefined)));
});
