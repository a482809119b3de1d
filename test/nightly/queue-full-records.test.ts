import { afterEach, test } from "vitest";

import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { fillRecords, fullRecordsBench } from "../support/fill-records.ts";

/** Makes a callback URL about as long as it may be. */
const longQuery = `?${"x".repeat(1_900)}`;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW19 records at their limit by number, with a backlog, under load: accepted calls end, others are refused, room is used again", async () => {
  const opened = (bench = await openFaultBench({ ...fullRecordsBench, doctorFlags: ["--max-call-records", "400"] }));
  await fillRecords(opened, { query: "", at: 400, count: 600 });
}, 400_000);

test("FW19 records at their limit by bytes, with a backlog, under load: accepted calls end, others are refused, room is used again", async () => {
  const opened = (bench = await openFaultBench(fullRecordsBench));
  await fillRecords(opened, { query: longQuery, at: 2_000, count: 3_000 });
}, 400_000);
