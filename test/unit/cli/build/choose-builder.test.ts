import { describe, expect, test } from "vitest";

import { chooseBuilder } from "../../../../runtime/cli/build/choose-builder.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { fakePrograms } from "../../../support/fake-program.ts";

const signal = new AbortController().signal;
const noPlugin = `echo 'docker: unknown command: docker buildx' >&2; exit 1`;
const noEngine = `echo 'Cannot connect to the Docker daemon. Is it running?' >&2; exit 1`;
const docker = (buildx: string, version: string): string =>
  `case "$1" in buildx) ${buildx};; version) ${version};; *) exit 9;; esac`;
const podman = `[ "$1" = info ] && echo 5.0`;

describe("the first builder that answers", () => {
  test.each([
    ["docker buildx", { docker: docker("echo Name: default", "echo 28"), podman }, undefined],
    ["docker", { docker: docker(noPlugin, "echo 28"), podman }, undefined],
    ["docker", { docker: docker("echo 'Error: engine is away'", "echo 28"), podman }, undefined],
    ["podman", { docker: docker(noPlugin, noEngine), podman }, undefined],
    ["podman", { podman }, undefined],
    ["podman", { docker: docker("echo Name: default", "echo 28"), podman }, "podman"],
    ["docker", { docker: docker("echo Name: default", "echo 28"), podman }, "docker"],
  ] as const)("%s", async (title, scripts, named) => {
    await using programs = await fakePrograms(scripts);
    const environment = { PATH: programs.only };
    const builder = await chooseBuilder(named, "Cannot build", { environment, signal });
    expect(builder.title).toBe(title);
  });
});

test("none answers: exit code 2, with the reason of each", async () => {
  await using programs = await fakePrograms({ docker: docker(noPlugin, noEngine) });
  const environment = { PATH: programs.only };
  await expect(chooseBuilder(undefined, 'Cannot build "hello"', { environment, signal })).rejects.toMatchObject({
    exit: exitCode.usage,
    message:
      'Cannot build "hello": no engine answers (docker buildx: docker: unknown command: docker buildx; docker: Cannot connect to the Docker daemon. Is it running?; podman: not installed)',
  });
});

test("one that is named has no stand-in", async () => {
  await using programs = await fakePrograms({ docker: docker(noPlugin, "echo 28"), podman });
  const environment = { PATH: programs.only };
  await expect(chooseBuilder("buildx", "Cannot build", { environment, signal })).rejects.toMatchObject({
    exit: exitCode.usage,
    message: "Cannot build: no engine answers (docker buildx: docker: unknown command: docker buildx)",
  });
});
