import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { formatEntry } from "../../../../scripts/fuzz/corpus-file.ts";
import type { FuzzOutcome } from "../../../../scripts/fuzz/fuzz.ts";
import { mutate } from "../../../../scripts/fuzz/mutate.ts";
import { progressMemory, progressOf } from "../../../../scripts/fuzz/progress.ts";
import { seededRandom } from "../../../../scripts/random.ts";

test("a failure that only coverage leads to is found and minimised", async () => {
  const worker = new Worker(new URL("./find-planted.ts", import.meta.url), { execArgv: [] });
  const [outcome] = (await once(worker, "message")) as [FuzzOutcome];
  await worker.terminate();

  expect(outcome.finds.map(({ input }) => Buffer.from(input).toString())).toEqual(["bugs"]);
  expect(outcome.finds[0]?.sentence).toBe("Error: planted in 4 bytes");
  expect(outcome.kept.length).toBeGreaterThanOrEqual(3);
});

test("the same seed gives the same mutants, never above the size limit", () => {
  const material = {
    corpus: [Buffer.from("GET /1 HTTP/1.1\r\n")] as [Buffer],
    words: [Buffer.from("\0")],
    maxBytes: 40,
  };
  const mutants = (seed: number): string[] => {
    const random = seededRandom(seed);
    return Array.from({ length: 500 }, () => Buffer.from(mutate(material, random)).toString("latin1"));
  };
  expect(mutants(7)).toEqual(mutants(7));
  expect(new Set(mutants(7)).size).toBeGreaterThan(400);
  for (const mutant of mutants(8)) expect(mutant.length).toBeLessThanOrEqual(40);
});

test("the other thread sees which input runs", () => {
  const memory = progressMemory();
  const [here, there] = [progressOf(memory), progressOf(memory)];
  const before = there.count();
  here.note(Buffer.from("abc"));
  here.note(Buffer.from("de"));
  expect([there.count() - before, Buffer.from(there.input()).toString()]).toEqual([2, "de"]);
});

test("a line of the corpus is ASCII, whatever the bytes", () => {
  const input = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const line = formatEntry({ input, find: "é" });
  expect(line).toMatch(/^[ -~]+$/);
  expect(Buffer.from((JSON.parse(line) as { input: string }).input, "latin1")).toEqual(Buffer.from(input));
});
