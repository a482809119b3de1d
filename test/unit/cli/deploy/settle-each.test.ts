import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { CliError } from "../../../../runtime/cli/cli-error.ts";
import { resultOfEach, settleEach, sharedExit } from "../../../../runtime/cli/deploy/settle-each.ts";
import { exitCode, type ExitCode } from "../../../../runtime/cli/exit-code.ts";

const error = (exit: ExitCode, sentence = "Cannot"): CliError => new CliError(exit, sentence);

describe("items", () => {
  test("are done four at a time, all of them, and come back in their order", async () => {
    let [running, most] = [0, 0];
    const items = Array.from({ length: 20 }, (_, at) => at);
    const results = await resultOfEach(items, async (item) => {
      most = Math.max(most, ++running);
      for (let turns = 20 - item; turns > 0; turns--) await turn();
      running--;
      return item * 2;
    });
    expect(results).toEqual(items.map((item) => item * 2));
    expect(most).toBe(4);
  });

  test("that fail leave the others alone", async () => {
    const settled = await settleEach([1, 2, 3], async (item) => {
      if (item === 1) throw error(exitCode.failed);
      return item;
    });
    expect(settled.map(({ kind }) => kind)).toEqual(["failed", "done", "done"]);
  });

  test.each([
    ["Ctrl-C", error(exitCode.interrupted)],
    ["a defect", new TypeError("a defect")],
  ])("end all at %s", async (_name, thrown) => {
    await expect(settleEach([1], async () => Promise.reject(thrown))).rejects.toBe(thrown);
  });

  test("that fail together are one error with all sentences", async () => {
    const all = resultOfEach(["a", "b", "c"], async (item) => {
      if (item === "b") return item;
      throw error(exitCode.usage, `Cannot ${item}`);
    });
    await expect(all).rejects.toMatchObject({ exit: exitCode.usage, message: "Cannot a\nCannot c" });
  });

  test("of which one fails keep its hint", async () => {
    const failure = new CliError(exitCode.notFound, "Cannot", { hint: "weir list" });
    await expect(resultOfEach([1], async () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

test.each([
  [[exitCode.timeout], exitCode.timeout],
  [[exitCode.timeout, exitCode.timeout], exitCode.timeout],
  [[exitCode.timeout, exitCode.credentials], exitCode.failed],
])("failures with exit codes %j end with %d", (codes, expected) => {
  expect(sharedExit(codes.map((code) => error(code)))).toBe(expected);
});
