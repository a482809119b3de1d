import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { openSqliteStores, type SqliteStores } from "../../runtime/adapters/sqlite/open-sqlite-stores.ts";
import {
  historyChange,
  historyId,
  historySyncCall,
  listPages,
  numbersOf,
  openEntry,
} from "../support/history-calls.ts";
import { rollupPoint } from "../contract/call-history-rollups.contract.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const echo = { namespace: "functions", name: "echo" };
const pay = { namespace: "shop", name: "pay" };
const ofPay = { namespace: pay.namespace, function: pay.name };

let directory: TempDirectory;
let stores: SqliteStores;

beforeEach(async () => {
  directory = await tempDirectory("erase");
  stores = await openSqliteStores(join(directory.path, "history"), { keptLogs: true, onDamaged: () => {} });
});
afterEach(async () => {
  await stores.close();
  await directory.remove();
});

test("ended calls of one function are removed for good, open ones and others stay", async () => {
  const { reads, writer } = stores;
  const many = Array.from({ length: 2_300 }, (_, index) => historyChange(100 + index, ofPay));
  await writer.apply({
    changes: [historyChange(1), historyChange(2, { ...ofPay, ...openEntry }), ...many],
    rollups: [rollupPoint(0, pay)],
  });
  await writer.apply({ changes: [{ kind: "sync", call: historySyncCall(3, pay) }], rollups: [] });
  expect(await writer.eraseCalls(pay)).toEqual({ calls: 2_301, open: 1 });
  expect(await writer.eraseCalls(pay)).toEqual({ calls: 0, open: 1 });
  expect(await writer.eraseCalls({ ...pay, name: "nobody" })).toEqual({ calls: 0, open: 0 });
  const { rows, pages } = await listPages(reads);
  expect([numbersOf(rows), pages[0]?.total]).toEqual([[2, 1], { value: 2, exact: true }]);

  // What is read again does not bring one back; the open call may end, and be erased then.
  await writer.apply({ changes: [...many.slice(0, 10), historyChange(2, ofPay, 5_000)], rollups: [] });
  expect(numbersOf((await listPages(reads)).rows)).toEqual([2, 1]);
  expect(await writer.eraseCalls(pay)).toEqual({ calls: 1, open: 0 });
  expect(await reads.get(historyId(2))).toBeUndefined();
  // How often it was called is no call.
  expect(await reads.functions()).toEqual([echo, pay]);
});

test("lines of one function are removed, and do not come again from its log", async () => {
  const { writer, reads } = stores.logs ?? expect.fail("no lines are kept");
  const lineOf = (ref: typeof pay, number: number) => ({
    ...ref,
    instance: "one",
    number: 0,
    text: `line ${number}`,
    timestamp: new Date(1_800_000_000_000 + number).toISOString(),
  });
  const ofBoth = (count: number) =>
    [pay, echo].flatMap((ref) => Array.from({ length: count }, (_, number) => lineOf(ref, number)));
  await writer.append(ofBoth(1_200));
  expect(await writer.eraseLines(pay)).toBe(1_200);
  expect(await writer.eraseLines(pay)).toBe(0);
  expect(await writer.eraseLines({ ...pay, name: "nobody" })).toBe(0);
  await writer.append(ofBoth(1_201));
  const texts = async (ref: typeof pay) =>
    (await reads.lines({ ...ref, limit: 5, newest: true })).lines.map(({ text }) => text.trimEnd());
  expect(await texts(pay)).toEqual(["line 1200"]);
  expect((await texts(echo)).at(-1)).toBe("line 1200");
  expect(await writer.size()).toMatchObject({ lines: 1_202 });
});
