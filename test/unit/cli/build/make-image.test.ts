import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { builders, type BuilderName } from "../../../../runtime/cli/build/builders.ts";
import type { ImageBuild } from "../../../../runtime/cli/build/image-build.ts";
import { makeImage, type MadeImage } from "../../../../runtime/cli/build/make-image.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { fakePrograms, type FakePrograms } from "../../../support/fake-program.ts";

const build: ImageBuild = {
  name: "hello",
  image: "r/hello:0123456789ab",
  isContentTag: true,
  hasRegistry: true,
  content: "0123456789ab",
  context: "/app",
  dockerfile: "/app/Dockerfile",
  args: {},
  target: undefined,
  platforms: [],
};

/** An engine that has the images that were built, and the registry those that were pushed; `$STATE/log` has the calls. */
const engine = `
echo "$*" >> $STATE/log
case "$1 $2" in
"image inspect") cat $STATE/labels 2>/dev/null || exit 1;;
"buildx imagetools") test -e $STATE/pushed;;
"buildx build" | build\\ *)
  for word in "$@"; do case "$word" in com.service.content=*) label=\${word#*=};; --push) touch $STATE/pushed;; esac; done
  echo "step 1"; test -e $STATE/fail && { echo "no such file: app.js" >&2; exit 17; }
  echo "{\\"com.service.content\\":\\"$label\\"}" > $STATE/labels;;
push\\ *) touch $STATE/pushed;;
*) exit 9;;
esac`;

const make = async (
  programs: FakePrograms,
  given: Partial<ImageBuild>,
  push: boolean,
  name: BuilderName = "docker",
  progress?: (line: string) => void,
): Promise<MadeImage> =>
  makeImage({ ...build, ...given }, push, {
    builder: builders[name],
    environment: { PATH: programs.path },
    signal: new AbortController().signal,
    progress,
  });
const calls = async ({ state }: FakePrograms): Promise<readonly string[]> => {
  const log = await readFile(join(state, "log"), "utf8");
  return log
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").slice(0, 2).join(" "));
};

describe("an image", () => {
  test("is built once for one content, and again for another", async () => {
    await using programs = await fakePrograms({ docker: engine });
    expect(await make(programs, {}, false)).toEqual({ image: build.image, built: true, pushed: false });
    expect(await make(programs, {}, false)).toEqual({ image: build.image, built: false, pushed: false });
    expect(await make(programs, { content: "ba9876543210" }, false)).toMatchObject({ built: true });
    expect(await calls(programs)).toEqual([
      "image inspect",
      "build --tag",
      "image inspect",
      "image inspect",
      "build --tag",
    ]);
  });

  test("that is there is pushed all the same", async () => {
    await using programs = await fakePrograms({ docker: engine });
    await make(programs, {}, false);
    expect(await make(programs, {}, true)).toEqual({ image: build.image, built: false, pushed: true });
    expect((await calls(programs)).at(-1)).toBe(`push ${build.image}`);
  });
});

describe("an image of several platforms", () => {
  const platforms = ["linux/amd64", "linux/arm64"];

  test("is pushed by buildx, and not made again while the registry has it", async () => {
    await using programs = await fakePrograms({ docker: engine });
    expect(await make(programs, { platforms }, true, "buildx")).toMatchObject({ built: true, pushed: true });
    expect(await make(programs, { platforms }, true, "buildx")).toEqual({
      image: build.image,
      built: false,
      pushed: false,
    });
    expect(await calls(programs)).toEqual(["buildx imagetools", "buildx build", "buildx imagetools"]);
  });

  test("is made again under a name that may mean another content", async () => {
    await using programs = await fakePrograms({ docker: engine });
    await make(programs, { platforms, isContentTag: false }, true, "buildx");
    expect(await make(programs, { platforms, isContentTag: false }, true, "buildx")).toMatchObject({ built: true });
  });

  test("is nothing that docker alone can make", async () => {
    await using programs = await fakePrograms({ docker: engine });
    await expect(make(programs, { platforms }, true)).rejects.toMatchObject({
      exit: exitCode.usage,
      message: 'Cannot build "hello" for 2 platforms: docker makes images of one; use docker buildx or podman',
    });
    expect(await make(programs, { platforms }, false)).toMatchObject({ built: true });
  });
});

describe("a builder that fails", () => {
  const fail = `touch $STATE/fail\n${engine}`;

  test("is exit code 1; its lines were told as they came", async () => {
    await using programs = await fakePrograms({ docker: fail });
    const lines: string[] = [];
    await expect(make(programs, {}, true, "docker", (line) => lines.push(line))).rejects.toMatchObject({
      exit: exitCode.failed,
      message: 'Cannot build "hello": docker build ended with 17',
    });
    expect(lines.toSorted()).toEqual(["no such file: app.js", "step 1"]);
    expect(await calls(programs)).not.toContain(`push ${build.image}`);
  });

  test("is quoted where they were not", async () => {
    await using programs = await fakePrograms({ docker: fail });
    await expect(make(programs, {}, true)).rejects.toMatchObject({
      message: expect.stringMatching(/ended with 17\n[\s\S]*no such file: app\.js/),
    });
  });
});
