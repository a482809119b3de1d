import { expect, test } from "vitest";

import { nameImage, type ImageNaming } from "../../../../runtime/cli/build/image-reference.ts";

const none: ImageNaming = {
  name: "hello",
  content: "0123456789ab",
  registryFlag: undefined,
  image: undefined,
  registry: undefined,
  tag: undefined,
};

test.each<[string, Partial<ImageNaming>, string, boolean, boolean]>([
  ["nothing", {}, "local/hello:0123456789ab", true, false],
  ["build.registry", { registry: "ghcr.io/acme" }, "ghcr.io/acme/hello:0123456789ab", true, true],
  ["--registry over it", { registry: "ghcr.io/acme", registryFlag: "r:5000" }, "r:5000/hello:0123456789ab", true, true],
  ["build.tag", { registry: "ghcr.io/acme", tag: "v1" }, "ghcr.io/acme/hello:v1", false, true],
  ["image", { image: "ghcr.io/acme/hi:1", registry: "r:5000" }, "ghcr.io/acme/hi:1", false, true],
  ["image of Docker Hub", { image: "acme/hi" }, "acme/hi", false, true],
  ["image without a place", { image: "hi:1" }, "hi:1", false, false],
  ["--registry over image", { image: "hi:1", registryFlag: "r:5000" }, "r:5000/hello:0123456789ab", true, true],
])("an image is named by %s", (_name, given, image, isContentTag, hasRegistry) => {
  expect(nameImage({ ...none, ...given })).toEqual({ image, isContentTag, hasRegistry });
});
