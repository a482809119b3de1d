import { expect, test } from "vitest";

import { permittedAnywhere } from "../../../../runtime/core/access/permitted-anywhere.ts";
import { administrator, type Principal } from "../../../../runtime/core/access/principal.ts";
import type { Grant } from "../../../../runtime/core/access/grants.ts";

const grant = (...actions: readonly string[]): Grant => ({
  role: "r",
  policy: "p",
  sid: "1",
  actions,
  resources: ["dev:pay"],
});
const holder = (allowed: readonly Grant[], reported: readonly Grant[] = []): Principal => ({
  ...administrator("basic"),
  via: "token",
  grants: { allowed, reported, policies: [] },
});

test.each([
  ["the administrator", administrator("basic"), true],
  ["who may do it to one function", holder([grant("Call:Get")]), true],
  ["who may do all of its kind", holder([grant("Call:*")]), true],
  ["who may do everything to one function", holder([grant("*")]), true],
  ["who may do it and another thing", holder([grant("Call:List", "Call:Get")]), true],
  ["who may do another thing", holder([grant("Call:List", "Function:*")]), false],
  ["whose role only reports", holder([], [grant("Call:Get")]), false],
  ["nobody", holder([]), false],
])("%s", (_name, principal, may) => {
  expect(permittedAnywhere(principal, "Call:Get")).toBe(may);
});
