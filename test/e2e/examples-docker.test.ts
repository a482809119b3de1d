import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { baseImageName, pythonBaseImageName } from "../../runtime/api/version.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { runExample, shownBy, showExample } from "../support/example-runs.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

describe.skipIf(noDockerEngine() !== undefined)("npm run example on a Weir that runs containers", () => {
  const opened: { engine?: TestDockerEngine; directory?: TempDirectory; weir?: WeirProcess } = {};

  beforeAll(async () => {
    opened.engine = await openDockerEngine();
    opened.directory = await tempDirectory("examples-docker");
    const flags = ["--provider", "docker", "--docker-socket", opened.engine.socket];
    opened.weir = await startWeir({ data: opened.directory.path, flags, within: 60_000 });
  });

  afterAll(async () => {
    try {
      await opened.weir?.stop();
    } finally {
      await opened.directory?.remove();
      await opened.engine?.close();
    }
  });

  const all = (): Required<typeof opened> => {
    const { engine, directory, weir } = opened;
    if (engine === undefined || directory === undefined || weir === undefined)
      throw new Error("Cannot run examples: Weir did not start");
    return { engine, directory, weir };
  };

  test.each(Object.keys(shownBy))("%s", async (name) => {
    const { weir, engine } = all();
    const shown = await showExample(weir, name, ["--docker-socket", engine.socket]);
    const base = name === "sales-report" ? pythonBaseImageName : baseImageName;
    expect(shown).toContain(`# Building image weir/${name}:example FROM ${base} with the engine at`);
  });

  test("an engine without the base image gets it", async () => {
    const { weir, engine } = all();
    await engine.client.call("DELETE", `/images/${baseImageName}`);
    const shown = await showExample(weir, "checksum", ["--docker-socket", engine.socket]);
    expect(shown).toContain(`# Making image ${baseImageName} of this system's Node.js and a few programs`);
  });

  test("an unreachable engine is reported in one sentence", async () => {
    const { weir, directory } = all();
    const socket = `${directory.path}/none.sock`;
    const run = await runExample("checksum", "--gateway", weir.url, "--data", weir.data, "--docker-socket", socket);
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Cannot reach the container engine at ".*none\.sock": .*; say with --docker-socket /,
      ),
    });
  });
});
