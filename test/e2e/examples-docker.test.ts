import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { baseImageName } from "../../runtime/api/version.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerWeir, type DockerWeir } from "../support/docker-weir.ts";
import { runExample, showExample } from "../support/example-runs.ts";

/** One example for all: the others run there at night. */
describe.skipIf(noDockerEngine() !== undefined)("npm run example on a Weir that runs containers", () => {
  let opened: DockerWeir;

  beforeAll(async () => {
    opened = await openDockerWeir("examples-docker");
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test("builds the example's image and shows what it does", async () => {
    const { weir, engine } = opened;
    const shown = await showExample(weir, "checksum", ["--docker-socket", engine.socket]);
    expect(shown).toContain(`# Building image weir/checksum:example FROM ${baseImageName} with the engine at`);
  });

  test("an engine without the base image gets it", async () => {
    const { weir, engine } = opened;
    await engine.client.call("DELETE", `/images/${baseImageName}`);
    const shown = await showExample(weir, "checksum", ["--docker-socket", engine.socket]);
    expect(shown).toContain(`# Making image ${baseImageName} of this system's Node.js and a few programs`);
  });

  test("an unreachable engine is reported in one sentence", async () => {
    const { weir } = opened;
    const socket = `${weir.data}/none.sock`;
    const run = await runExample("checksum", "--gateway", weir.url, "--data", weir.data, "--docker-socket", socket);
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Cannot reach the container engine at ".*none\.sock": .*; say with --docker-socket /,
      ),
    });
  });
});
