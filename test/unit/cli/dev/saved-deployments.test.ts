import { expect, test } from "vitest";

import { SavedDeployments } from "../../../../runtime/cli/dev/saved-deployments.ts";

/** Deployments that a test ends one by one. */
function openDeployments() {
  const begun: { readonly name: string; readonly superseded: AbortSignal; readonly end: (err?: Error) => void }[] = [];
  const defects: unknown[] = [];
  const deployments = new SavedDeployments(
    (name, superseded) =>
      new Promise((resolve, reject) => {
        begun.push({ name, superseded, end: (err) => (err === undefined ? resolve() : reject(err)) });
      }),
    (err) => defects.push(err),
  );
  return { begun, defects, deployments, names: () => begun.map(({ name }) => name) };
}

/** All promises that can settle have. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("functions are deployed at the same time, one of them once at a time", async () => {
  const { begun, deployments, names } = openDeployments();
  deployments.start("a");
  deployments.start("b");
  await settled();
  expect(names()).toEqual(["a", "b"]);
  deployments.start("a");
  await settled();
  expect(names()).toEqual(["a", "b"]);
  expect(begun.map(({ superseded }) => superseded.aborted)).toEqual([true, false]);
  begun[0]?.end();
  await settled();
  expect(names()).toEqual(["a", "b", "a"]);
  expect(begun[2]?.superseded.aborted).toBe(false);
});

test("of several saves during one deployment only the last is deployed", async () => {
  const { begun, deployments, names } = openDeployments();
  for (let save = 0; save < 4; save++) deployments.start("a");
  await settled();
  expect(names()).toEqual(["a"]);
  begun[0]?.end();
  await settled();
  expect(names()).toEqual(["a"]);
});

test("a defect is told, and the next save is deployed all the same", async () => {
  const { begun, defects, deployments, names } = openDeployments();
  deployments.start("a");
  await settled();
  const defect = new Error("a defect");
  begun[0]?.end(defect);
  await settled();
  expect(defects).toEqual([defect]);
  deployments.start("a");
  await settled();
  expect(names()).toEqual(["a", "a"]);
});
