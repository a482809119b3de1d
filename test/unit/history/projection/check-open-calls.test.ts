import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { HistoryWrites } from "../../../../runtime/history/history-writes.ts";
import { OpenCallsCheck } from "../../../../runtime/history/projection/check-open-calls.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { eventually } from "../../../support/eventually.ts";
import { RecordedWriter } from "../../../support/recorded-writer.ts";
import { ScriptedRecords } from "../../../support/scripted-records.ts";

let records: ScriptedRecords;
let writer: RecordedWriter;
let lag: number;
let stop: AbortController;
let running: Promise<void>;
let check: OpenCallsCheck;

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `call-${1_000 + index}`);

beforeEach(() => {
  records = new ScriptedRecords();
  writer = new RecordedWriter();
  lag = 0;
  stop = new AbortController();
  const state = {
    get lagSeconds() {
      return lag;
    },
  };
  check = new OpenCallsCheck({ records, writes: new HistoryWrites(writer), state, log: createLog("test", "silent") });
  running = check.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

describe("OpenCallsCheck", () => {
  test("makes those calls unknown that have no record, step by step", async () => {
    writer.open = ids(230);
    records.gone = ["call-1000", "call-1150", "call-1229"];
    check.ask();
    await eventually(() => writer.unknown.length === 3, { what: "the calls" });
    expect(writer.unknown).toEqual(records.gone);
    expect(records.looked.map((some) => some.length)).toEqual([100, 100, 30]);
  });

  test("waits until the records were read: the end of a call may be just behind", async () => {
    lag = 60;
    writer.open = ids(1);
    records.gone = writer.open;
    check.ask();
    await eventually(() => writer.unknown.length === 0 && records.looked.length === 0, { what: "nothing" });
    lag = 0;
    await eventually(() => writer.unknown.length === 1, { what: "the call" });
  });

  test("tries again when records cannot be read", async () => {
    writer.open = ids(1);
    records.gone = writer.open;
    records.failure = new Error("the broker is away");
    check.ask();
    await eventually(() => records.looked.length > 0, { what: "a look" });
    expect(writer.unknown).toEqual([]);
    records.failure = undefined;
    await eventually(() => writer.unknown.length === 1, { what: "the call" });
  });
});
