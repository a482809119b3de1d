import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { baseImageName, pythonBaseImageName } from "../../runtime/api/version.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerWeir, type DockerWeir } from "../support/docker-weir.ts";
import { shownBy, showExample } from "../support/example-runs.ts";

/** On every change one of them runs in a container, and all run as processes. */
describe.skipIf(noDockerEngine() !== undefined)("npm run example on a Weir that runs containers", () => {
  let opened: DockerWeir;

  beforeAll(async () => {
    opened = await openDockerWeir("examples-docker");
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test.each(Object.keys(shownBy))("%s", async (name) => {
    const { weir, engine } = opened;
    const shown = await showExample(weir, name, ["--docker-socket", engine.socket]);
    const base = name === "sales-report" ? pythonBaseImageName : baseImageName;
    expect(shown).toContain(`# Building image weir/${name}:example FROM ${base} with the engine at`);
  });
});
