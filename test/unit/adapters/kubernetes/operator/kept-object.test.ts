import { expect, test } from "vitest";

import { keptObject } from "../../../../../runtime/adapters/kubernetes/operator/kept-object.ts";

test("caches keep neither managed fields nor kubectl's own copy of an object", () => {
  const metadata = { name: "f", namespace: "dev", uid: "u1", resourceVersion: "7", labels: { a: "b" } };
  const annotations = { "service.com/revision": "1" };
  const copy = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const spec = { image: "example/hello:1" };
  const object = { metadata: { ...metadata, managedFields: [{}], annotations: { ...annotations, ...copy } }, spec };
  expect(keptObject(object)).toEqual({ metadata: { ...metadata, annotations }, spec });
  expect(keptObject({ metadata })).toEqual({ metadata });
});
