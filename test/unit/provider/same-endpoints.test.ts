import { expect, test } from "vitest";

import type { FunctionEndpoints } from "../../../runtime/core/ports/endpoints.ts";
import { sameEndpoints } from "../../../runtime/provider/same-endpoints.ts";

const entry: FunctionEndpoints = {
  namespace: "functions",
  name: "hello",
  addresses: ["127.0.0.1:1", "127.0.0.1:2"],
  names: { "127.0.0.1:1": "hello-a", "127.0.0.1:2": "hello-b" },
  observedGeneration: 1,
  conditions: [],
};

test.each<[what: string, over: Partial<FunctionEndpoints>, same: boolean]>([
  ["nothing else", {}, true],
  ["another order", { addresses: ["127.0.0.1:2", "127.0.0.1:1"] }, true],
  ["one address less", { addresses: ["127.0.0.1:1"] }, false],
  ["another replica at an address", { names: { ...entry.names, "127.0.0.1:2": "hello-c" } }, false],
  ["names of replicas that are gone", { names: { ...entry.names, "127.0.0.1:3": "hello-c" } }, true],
  ["another generation", { observedGeneration: 2 }, false],
])("%s", (_what, over, same) => {
  expect(sameEndpoints({ ...entry, ...over }, entry)).toBe(same);
});

test("an entry of an earlier release is another one", () => {
  const { names: _, ...earlier } = entry;
  expect(sameEndpoints(entry, earlier)).toBe(false);
});
