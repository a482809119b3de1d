import { describe, expect, test } from "vitest";

import { checkImage, pullQuery } from "../../../../../../runtime/adapters/machine/docker/images/image-reference.ts";
import { PullProgress } from "../../../../../../runtime/adapters/machine/docker/images/pull-progress.ts";

describe("references", () => {
  const digest = `sha256:${"a".repeat(64)}`;

  test.each([
    ["hello", { fromImage: "hello", tag: "latest" }],
    ["hello:1", { fromImage: "hello:1" }],
    ["acme/hello", { fromImage: "acme/hello", tag: "latest" }],
    ["registry.example:5000/acme/hello", { fromImage: "registry.example:5000/acme/hello", tag: "latest" }],
    ["registry.example:5000/acme/hello:1.2_3-x", { fromImage: "registry.example:5000/acme/hello:1.2_3-x" }],
    [`hello@${digest}`, { fromImage: `hello@${digest}` }],
  ])("%s is requested with its full name", (image, query) => {
    expect(checkImage(image)).toBe(image);
    expect(pullQuery(image)).toEqual(query);
  });

  test.each(["", "a b", "a/../b", "../b", "a//b", "/a", "a?b", "a#b", "a%2fb", "-rf", "a:b:c", "a\n", "a@b"])(
    "%j is invalid",
    (image) => {
      expect(() => checkImage(image)).toThrow("Cannot use image");
    },
  );
});

describe("progress", () => {
  test("adds up layers and bytes", () => {
    const progress = new PullProgress();
    expect(progress.text()).toBe("");
    progress.add({ id: "latest", status: "Pulling from acme/hello" });
    for (const id of ["a", "b", "c"]) progress.add({ id, status: "Pulling fs layer" });
    expect(progress.text()).toBe("0 of 3 layers");
    progress.add({ id: "a", status: "Already exists" });
    progress.add({ id: "b", status: "Downloading", progressDetail: { current: 31_000_000, total: 84_000_000 } });
    expect(progress.text()).toBe("1 of 3 layers, 31 of 84 MB");
    progress.add({ id: "b", status: "Download complete" });
    progress.add({ id: "b", status: "Extracting", progressDetail: { current: 1, total: 84_000_000 } });
    expect(progress.text()).toBe("1 of 3 layers, 84 of 84 MB");
    progress.add({ id: "b", status: "Pull complete" });
    progress.add({ status: "Digest: sha256:…" });

    expect(progress.text()).toBe("2 of 3 layers, 84 of 84 MB");
  });
});
