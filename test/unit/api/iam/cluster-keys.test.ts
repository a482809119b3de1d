import { expect, test } from "vitest";

import { hasClusterKeys } from "../../../../runtime/api/iam/cluster-keys.ts";

test.each([
  ["https://kubernetes.default.svc", true],
  ["https://kubernetes.default.svc:443/", true],
  ["https://KUBERNETES.default.svc", true],
  ["http://kubernetes.default.svc", false],
  ["https://kubernetes.default.svc.example.com", false],
  ["https://example.com/?kubernetes.default.svc", false],
  ["kubernetes.default.svc", false],
  [undefined, false],
])("the keys at %s are those of the platform's cluster: %s", (issInternal, expected) => {
  expect(hasClusterKeys(issInternal)).toBe(expected);
});
