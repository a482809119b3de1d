import { expect, test } from "vitest";

import { chosen, inBackupOrder } from "../../../scripts/backup/weir-streams.ts";

test("what follows from something else is taken after it, and what is not Weir's is left out", () => {
  const names = ["KV_results", "DLQ", "ORDERS", "KV_other", "Q_reports", "KV_functions", "CB", "Q_default", "KV_calls"];
  expect(inBackupOrder(names)).toEqual([
    "KV_calls",
    "Q_default",
    "Q_reports",
    "CB",
    "KV_results",
    "DLQ",
    "KV_functions",
  ]);
});

test("some may be chosen, and keep their order", () => {
  expect(chosen(["KV_calls", "CB", "DLQ"], ["DLQ", "KV_calls"])).toEqual(["KV_calls", "DLQ"]);
  expect(chosen(["CB"], undefined)).toEqual(["CB"]);
  expect(() => chosen([], ["CB"])).toThrow('Cannot take only "CB": there are no streams of Weir');
});
