import { describe, expect, test } from "vitest";

import { builders } from "../../../../runtime/cli/build/builders.ts";
import type { ImageBuild } from "../../../../runtime/cli/build/image-build.ts";

const one: ImageBuild = {
  name: "hello",
  image: "r/hello:1",
  isContentTag: false,
  hasRegistry: true,
  content: "0123456789ab",
  context: "/app",
  dockerfile: "/app/Dockerfile",
  args: {},
  target: undefined,
  platforms: [],
};
const many: ImageBuild = { ...one, platforms: ["linux/amd64", "linux/arm64"] };
const rest = "--file /app/Dockerfile --label com.service.content=0123456789ab";
const both = "--platform linux/amd64,linux/arm64";

describe("command lines", () => {
  test.each([
    [
      "buildx",
      one,
      true,
      `docker buildx build --progress plain --load --tag r/hello:1 ${rest} /app`,
      "docker push r/hello:1",
    ],
    [
      "buildx",
      many,
      true,
      `docker buildx build --progress plain --push --tag r/hello:1 ${rest} ${both} /app`,
      undefined,
    ],
    ["docker", one, true, `docker build --tag r/hello:1 ${rest} /app`, "docker push r/hello:1"],
    ["podman", one, true, `podman build --tag r/hello:1 ${rest} /app`, "podman push r/hello:1"],
    [
      "podman",
      many,
      true,
      `podman build --manifest r/hello:1 ${rest} ${both} /app`,
      "podman manifest push --all r/hello:1 docker://r/hello:1",
    ],
  ] as const)("of %s", (name, build, push, expected, pushing) => {
    expect(builders[name].build(build, push).join(" ")).toBe(expected);
    expect(builders[name].push(build)?.join(" ")).toBe(pushing);
  });

  test.each(["buildx", "docker", "podman"] as const)("of %s for one engine: one platform, which is its own", (name) => {
    expect(builders[name].build(many, false).join(" ")).not.toMatch(/--platform|--push|--manifest/);
    const chosen = { ...one, platforms: ["linux/arm64"] };
    expect(builders[name].build(chosen, false).join(" ")).toContain("--platform linux/arm64 /app");
  });

  test("of arguments and a stage", () => {
    const build = { ...one, args: { BASE: "node:24", MORE: "a b=c" }, target: "runtime" };
    expect(builders.docker.build(build, false).slice(-7)).toEqual([
      "--build-arg",
      "BASE=node:24",
      "--build-arg",
      "MORE=a b=c",
      "--target",
      "runtime",
      "/app",
    ]);
  });
});
