import { expect, test } from "vitest";

import { chosen, inBackupOrder } from "../../../scripts/backup/weir-streams.ts";

test("a stream that depends on another is backed up after it, and foreign ones are left out", () => {
  const names = "KV_requests KV_results DLQ ORDERS KV_other Q_reports KV_functions CB Q_default KV_calls".split(" ");
  expect(inBackupOrder(names)).toEqual([
    "KV_calls",
    "Q_default",
    "Q_reports",
    "CB",
    "KV_results",
    "KV_requests",
    "DLQ",
    "KV_functions",
  ]);
});

test("a selection keeps its order", () => {
  expect(chosen(["KV_calls", "CB", "DLQ"], ["DLQ", "KV_calls"])).toEqual(["KV_calls", "DLQ"]);
  expect(chosen(["CB"], undefined)).toEqual(["CB"]);
  expect(() => chosen([], ["CB"])).toThrow('Cannot take only "CB": there are no streams of Weir');
});
