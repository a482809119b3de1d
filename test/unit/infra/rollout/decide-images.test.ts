import { expect, test } from "vitest";

import { decideImages } from "../../../../infra/rollout/decide-images.ts";

const wanted = {
  spec: { template: { spec: { containers: [{ name: "gateway", image: "registry.example/weir:2" }] } } },
};
const said = 'failed to resolve reference "registry.example/weir:2": not found';

function pod(waiting: object | undefined, { image = "registry.example/weir:2", metadata = {} } = {}) {
  return {
    metadata: { name: "gateway-1", ...metadata },
    spec: { containers: [{ name: "gateway", image }] },
    status: { containerStatuses: [{ name: "gateway", state: waiting === undefined ? { running: {} } : { waiting } }] },
  };
}
const backOff = {
  reason: "ImagePullBackOff",
  message: `Back-off pulling image "registry.example/weir:2": ErrImagePull: ${said}`,
};

test("an image that cannot be pulled is failing, with the words of the registry", () => {
  expect(decideImages(wanted, [pod(undefined), pod(backOff)])).toEqual({
    kind: "failing",
    because: `pod "gateway-1" cannot pull image "registry.example/weir:2": ${said}`,
  });
  expect(decideImages(wanted, [pod({ reason: "InvalidImageName", message: "bad" })])?.kind).toBe("failed");
});

test("pods that start, of another image, or that are ending do not count", () => {
  const others = [
    pod({ reason: "ContainerCreating" }),
    pod(backOff, { image: "registry.example/weir:1" }),
    pod(backOff, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  ];
  expect(decideImages(wanted, others)).toBeUndefined();
});
