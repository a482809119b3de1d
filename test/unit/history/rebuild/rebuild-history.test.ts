import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { CallChange } from "../../../../runtime/core/ports/call-history.ts";
import type { DeadLetterFacts } from "../../../../runtime/core/ports/dead-letters.ts";
import type { HistoryRebuild } from "../../../../runtime/core/ports/history-rebuild.ts";
import { HistoryWrites } from "../../../../runtime/history/history-writes.ts";
import {
  fillRebuild,
  seedRebuild,
  type RebuildHistoryParts,
} from "../../../../runtime/history/rebuild/rebuild-history.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { eventually } from "../../../support/eventually.ts";
import { historyId } from "../../../support/history-calls.ts";
import { RecordedWriter } from "../../../support/recorded-writer.ts";
import { recordBatch, ScriptedRecords } from "../../../support/scripted-records.ts";

const day = 86_400_000;
const now = 1_800_000_000_000;
const position = recordBatch(9, []).position;
const letter: DeadLetterFacts = {
  kind: "call",
  id: historyId(1),
  queue: "default",
  function: { namespace: "functions", name: "echo" },
  reason: "exhausted",
  attempts: 1,
  lastStatus: 500,
  acceptedAt: now,
  deadAt: now,
  redrives: 0,
};

/** Notes what is asked of it, and fails as often as a test says. */
class ScriptedRebuild implements HistoryRebuild {
  readonly reason = "damaged";
  position: HistoryRebuild["position"] = position;
  hasLosses = false;
  isUnderWay = true;
  readonly done: string[] = [];
  readonly unknown: CallChange[] = [];
  parts = 3;
  failures = 0;

  async seed(): Promise<void> {
    this.#note("seed");
  }

  async copySome(): Promise<boolean> {
    this.#note("copy");
    this.parts -= 1;
    return this.parts > 0;
  }

  async addUnknown(changes: readonly CallChange[]): Promise<number> {
    this.#note("letters");
    this.unknown.push(...changes);
    return changes.length;
  }

  hide(): void {
    this.#note("hide");
  }

  async finish(): Promise<void> {
    this.#note("finish");
    this.isUnderWay = false;
  }

  #note(what: string): void {
    this.done.push(what);
    if (this.failures === 0) return;
    this.failures -= 1;
    throw new Error("disk full");
  }
}

let rebuild: ScriptedRebuild;
let records: ScriptedRecords;
let writer: RecordedWriter;
let state: { lagSeconds: number };
let stop: AbortController;

beforeEach(() => {
  rebuild = new ScriptedRebuild();
  records = new ScriptedRecords();
  writer = new RecordedWriter();
  state = { lagSeconds: 0 };
  stop = new AbortController();
});
afterEach(() => stop.abort());

const parts = (): RebuildHistoryParts => ({
  rebuild,
  records,
  letters: {
    all: async function* () {
      yield [letter, { ...letter, kind: "callback", reason: "callback" }];
    },
  },
  writes: new HistoryWrites(writer),
  state,
  age: 7 * day,
  log: createLog("test", "silent"),
  now: () => now,
  monotonic: () => performance.now(),
});

describe("a history that is filled anew", () => {
  test("reads all records up to where the former one was, then what only that one has, then dead letters", async () => {
    await seedRebuild(parts(), stop.signal);
    records.add(recordBatch(4, [historyId(4)], { isLevel: false }));
    records.add(recordBatch(9, [historyId(9)], { isLevel: false }));
    records.add(recordBatch(12, [historyId(12)]));
    expect(await fillRebuild(parts(), stop.signal)).toBe(true);
    expect(rebuild.done).toEqual(["seed", "copy", "copy", "copy", "letters", "finish"]);
    expect(records.followed).toEqual([{ ...position, sequence: 0, at: 0 }]);
    const applied = writer.batches.map(({ changes, position: stored }) => [changes.length, stored]);
    expect(applied).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
    expect(rebuild.unknown).toMatchObject([{ id: letter.id, revision: 0 }]);
  });

  test("reads none of another stream, which is read as a whole anyway", async () => {
    records.add(recordBatch(4, [historyId(4)], { position: { ...position, created: "later" } }));
    expect(await fillRebuild(parts(), stop.signal)).toBe(true);
    expect(writer.batches).toEqual([]);
  });

  test("answers once it has what was recorded when all was copied, though it is never without lag", async () => {
    let [time, looks] = [0, 0];
    const lagging = {
      get lagSeconds() {
        looks += 1;
        return 5;
      },
    };
    records.add(recordBatch(9, []));
    const filling = fillRebuild({ ...parts(), state: lagging, monotonic: () => time }, stop.signal);
    await eventually(() => looks > 0, { what: "all to be copied" });
    time += 4_999;
    const before = looks;
    await eventually(() => looks > before + 1, { what: "another look" });
    expect(rebuild.done).not.toContain("finish");
    time += 1;
    expect(await filling).toBe(true);
    expect(rebuild.done.slice(-2)).toEqual(["letters", "finish"]);
  });

  test("tries again what cannot be stored", async () => {
    rebuild.failures = 1;
    await seedRebuild(parts(), stop.signal);
    records.add(recordBatch(9, []));
    rebuild.failures = 1;
    expect(await fillRebuild(parts(), stop.signal)).toBe(true);
    expect(rebuild.done.filter((what) => what === "seed")).toHaveLength(2);
    expect(rebuild.done.filter((what) => what === "copy")).toHaveLength(4);
  });

  test.each([
    ["something of the former one cannot be read", position, true, true],
    ["it is not known how far that one was", undefined, false, true],
    ["all of it is there", position, false, false],
  ])("has a gap if %s: %s", async (_, former, hasLosses, isGap) => {
    rebuild.position = former;
    rebuild.hasLosses = hasLosses;
    records.add(recordBatch(9, []));
    expect(await fillRebuild(parts(), stop.signal)).toBe(true);
    const gaps = writer.batches.flatMap(({ gap }) => gap ?? []);
    expect(gaps).toEqual(isGap ? [{ from: now - 7 * day, to: now - 120_000 }] : []);
  });

  test("stops where it is", async () => {
    const filling = fillRebuild(parts(), stop.signal);
    await eventually(() => records.followed.length === 1, { what: "the records to be read" });
    stop.abort();
    expect(await filling).toBe(false);
    expect(rebuild.done).not.toContain("finish");
  });
});
