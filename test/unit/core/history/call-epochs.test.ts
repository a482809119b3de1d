import { expect, test } from "vitest";

import { callEpochs } from "../../../../runtime/core/history/call-epochs.ts";
import { historyEntry, historyStart, openEntry } from "../../../support/history-calls.ts";

const begun = (number: number) => ({ number, startedAt: historyStart + 1_000 * number });
const [first, second, third] = [begun(1), begun(2), begun(3)];
const redriven = second.startedAt;

test("without a record there is none", () => expect(callEpochs({})).toEqual([]));

test("runs that the record of a restored store does not count yet are of its last epoch", () => {
  const before = historyEntry(0, { run: 1, attempts: [] });
  const entry = historyEntry(0, { ...openEntry, run: 1, redrives: 1, redriven, attempts: [first, second, third] });
  const epochs = callEpochs({ entry, earlier: [{ revision: 1, entry: before }] });
  expect(epochs.map(({ attempts }) => attempts)).toEqual([[first], [second, third]]);
});

test("a call whose first end was not seen, and that has not ended again, was redriven, not only its callback", () => {
  const before = historyEntry(0, { ...openEntry, run: 1 });
  const entry = historyEntry(0, { ...openEntry, run: 2, redrives: 1, redriven, attempts: [first, second] });
  expect(callEpochs({ entry, earlier: [{ revision: 1, entry: before }] })).toEqual([
    { callbackOnly: false, attempts: [first], entry: before },
    { callbackOnly: false, attempts: [second], entry, redriven },
  ]);
});

test("of a redriven call of which only the last record was seen, runs from the redrive on are of the later epoch", () => {
  const entry = historyEntry(0, { ...openEntry, run: 2, redrives: 1, redriven, attempts: [first, second] });
  expect(callEpochs({ entry })).toEqual([
    { callbackOnly: false, attempts: [first] },
    { callbackOnly: false, attempts: [second], entry, redriven },
  ]);
});

test.each([
  ["before it was redriven", redriven - 1],
  ["as it was redriven", redriven],
])("of a call that ended %s only the callback was redriven", (_, ended) => {
  const entry = historyEntry(0, { redrives: 1, redriven, attempts: [first], ended });
  expect(callEpochs({ entry })).toEqual([
    { callbackOnly: false, attempts: [first], entry: { ...entry, callback: null } },
    { callbackOnly: true, attempts: [], entry, redriven },
  ]);
});

test("a record of an earlier release, which does not say when it was redriven, shows all of its runs in one", () => {
  const entry = historyEntry(0, { run: 2, redrives: 1, attempts: [first, second] });
  expect(callEpochs({ entry })).toEqual([{ callbackOnly: false, attempts: [first, second], entry }]);
});
