import { expect, test } from "vitest";

import { imageParts } from "../../../../../runtime/cli/moves/write/image-parts.ts";

test.each([
  ["alpine", "https://registry-1.docker.io", "library/alpine", "latest"],
  ["alpine:3", "https://registry-1.docker.io", "library/alpine", "3"],
  ["acme/hello:1", "https://registry-1.docker.io", "acme/hello", "1"],
  ["docker.io/alpine", "https://registry-1.docker.io", "library/alpine", "latest"],
  ["docker.io/acme/hello", "https://registry-1.docker.io", "acme/hello", "latest"],
  ["ghcr.io/acme/hello:1", "https://ghcr.io", "acme/hello", "1"],
  ["registry.example.com:5000/a/b/c:v", "https://registry.example.com:5000", "a/b/c", "v"],
  ["localhost/hello", "http://localhost", "hello", "latest"],
  ["localhost:5000/hello:1", "http://localhost:5000", "hello", "1"],
  ["127.0.0.1:5000/hello", "http://127.0.0.1:5000", "hello", "latest"],
])("%s is at %s, %s:%s", (image, address, repository, tag) => {
  expect(imageParts(image)).toEqual({ address, repository, tag, isPinned: false });
});

test("a reference with a digest is pinned", () => {
  expect(imageParts(`ghcr.io/acme/hello:1@sha256:${"0".repeat(64)}`)).toMatchObject({ tag: "1", isPinned: true });
});
