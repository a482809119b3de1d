import { expect, test } from "vitest";

import type { ImageBuild } from "../../../../runtime/cli/build/image-build.ts";
import {
  changeOf,
  hasToBeSent,
  type ComparedDeployment,
} from "../../../../runtime/cli/deploy/plan/compared-deployment.ts";
import { conditionOf, functionStatusOf } from "../../../support/function-status-of.ts";

const deployment = { service: "hello", image: "hello:1" };
const before = functionStatusOf(deployment);
const same: ComparedDeployment = { deployment, before, changes: [], build: undefined };
const built = (isContentTag: boolean): ImageBuild => ({
  name: "hello",
  image: "hello:1",
  isContentTag,
  hasRegistry: true,
  content: "0123456789ab",
  context: "/app",
  dockerfile: "/app/Dockerfile",
  args: {},
  target: undefined,
  platforms: [],
});
const stalled = functionStatusOf(deployment, {
  conditions: [conditionOf("Stalled", "True"), conditionOf("Healthy", "False"), conditionOf("Reconciling", "True")],
});
const starting = functionStatusOf(deployment, { conditions: [conditionOf("Reconciling", "True")] });

test.each<[string, ComparedDeployment, boolean, boolean]>([
  ["a function that is not there", { ...same, before: undefined }, false, true],
  ["one that differs", { ...same, changes: [{ path: "image" }] }, false, true],
  ["one that is the same and ready", same, false, false],
  ["one that is the same and starting", { ...same, before: starting }, false, false],
  ["one that is the same and stalled", { ...same, before: stalled }, false, true],
  ["one whose image was built under the same tag", { ...same, build: built(false) }, true, true],
  ["one whose image of that tag was there", { ...same, build: built(false) }, false, false],
  [
    "one whose image of that content was built, as the engine had lost it",
    { ...same, build: built(true) },
    true,
    false,
  ],
])("%s is sent: %s", (_name, compared, wasBuilt, expected) => {
  expect(hasToBeSent(compared, wasBuilt)).toBe(expected);
});

test("a change has a name", () => {
  expect(changeOf(same)).toBe("none");
  expect(changeOf({ before, changes: [{ path: "image" }] })).toBe("update");
  expect(changeOf({ before: undefined, changes: [] })).toBe("create");
});
