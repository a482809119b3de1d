import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { eventually } from "../../support/eventually.ts";
import { descendants, endProcess, isAlive } from "../../support/process-tree.ts";

test.skipIf(!existsSync("/proc/self/stat"))("grandchildren are found, and end only when told to", async () => {
  const child = spawn(process.execPath, [
    "-e",
    'require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]); setInterval(() => {}, 1000);',
  ]);
  const [grandchild] = await eventually(
    () => {
      const found = descendants(child.pid ?? 0);
      return found.length === 1 && found[0]?.command.includes("setInterval") === true && found;
    },
    { what: "the grandchild" },
  );
  const self = descendants(process.pid).find(({ pid }) => pid === child.pid);
  if (grandchild === undefined || self === undefined) throw new Error("Cannot test: the processes were not found");
  expect(grandchild.parent).toBe(child.pid);
  expect(isAlive({ ...grandchild, startedAt: "1" })).toBe(false);

  endProcess(self);
  await eventually(() => !isAlive(self), { what: "the child to be gone" });
  expect(isAlive(grandchild)).toBe(true);
  endProcess(grandchild);
  await eventually(() => !isAlive(grandchild), { what: "the grandchild to be gone" });
  endProcess(grandchild);
});
