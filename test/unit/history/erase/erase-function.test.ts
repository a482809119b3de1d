import { expect, test } from "vitest";

import {
  erasedText,
  eraseFunction,
  type EraseFunctionParts,
} from "../../../../runtime/history/erase/erase-function.ts";
import { parseErased } from "../../../../runtime/history/erase/parse-erased.ts";
import { HistoryWrites } from "../../../../runtime/history/history-writes.ts";
import { RecordedWriter } from "../../../support/recorded-writer.ts";

const pay = { namespace: "shop", name: "pay" };

test.each([
  ["function=pay", { namespace: "functions", name: "pay" }],
  ["function=pay.shop", pay],
])("--erase %s", (text, ref) => {
  expect(parseErased(text, "functions")).toEqual(ref);
});

test.each(["pay", "function=", "function=pay.", "function=a.b.c", "queue=pay", "function=Pay", "function=pay=x", ""])(
  "--erase %j is refused",
  (text) => {
    expect(() => parseErased(text, "functions")).toThrow(
      `Cannot erase ${JSON.stringify(text)}: expected function=NAME or function=NAME.NAMESPACE`,
    );
  },
);

function partsOf(over: Partial<EraseFunctionParts> = {}): EraseFunctionParts {
  const writer = Object.assign(new RecordedWriter(), { eraseCalls: async () => ({ calls: 1, open: 2 }) });
  return {
    writer,
    writes: new HistoryWrites(writer),
    logs: { writer: { eraseLines: async () => 1_204 } },
    requests: { removeFunction: async () => 0 },
    isRebuilding: false,
    ...over,
  };
}

test("says what it removed, and what stays", async () => {
  const erased = await eraseFunction(partsOf(), pay);
  expect(erased).toEqual({ calls: 1, open: 2, lines: 1_204, requests: 0 });
  expect(erasedText(pay, erased)).toBe(
    'Removed of function "pay.shop": 1 call, 1204 log lines and 0 kept requests\n' +
      "2 calls of it have not ended and stay: erase it again later",
  );
  expect(erasedText(pay, { ...erased, open: 1 })).toContain("1 call of it has not ended and stays");
  expect(erasedText(pay, { ...erased, open: 0 })).not.toContain("not ended");
});

test("without a broker, calls and lines go, and it says so", async () => {
  const requests = { removeFunction: () => Promise.reject(new Error("away")) };
  const erased = await eraseFunction(partsOf({ requests, logs: undefined }), pay);
  expect(erasedText(pay, { ...erased, open: 0 })).toBe(
    'Removed of function "pay.shop": 1 call and 0 log lines\n' +
      "Kept requests stay: the broker could not be asked; erase it again later",
  );
});

test("is refused while the history is filled anew, and where the store cannot do it", async () => {
  await expect(eraseFunction(partsOf({ isRebuilding: true }), pay)).rejects.toThrow("being filled anew");
  const writer = new RecordedWriter();
  await expect(eraseFunction(partsOf({ writer }), pay)).rejects.toThrow(
    'Cannot erase function "pay.shop": this kind of store cannot do it',
  );
});
