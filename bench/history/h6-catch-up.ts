import { setTimeout as pause } from "node:timers/promises";

import { openRecordBroker } from "../../test/support/record-broker.ts";
import type { BenchRow } from "../bench-row.ts";
import { say } from "../tools.ts";
import { startHistory } from "./start-history.ts";

const records = 500_000;
const lookEvery = 50;

/** H6: from the start of a history with an empty file until it has all records. */
export const h6CatchUp: BenchRow = {
  id: "H6",
  what: `history: from its start with an empty file until it has all ${records} records`,
  peer: "nothing",
  unit: "s",
  judged: "value",
  lessIsBetter: true,
  firstBar: 30,
  goal: 30,
  open: async () => {
    const broker = await openRecordBroker();
    try {
      say(`H6: ${records} records are written`);
      await broker.flood(records);
    } catch (err) {
      await broker[Symbol.asyncDispose]();
      throw err;
    }
    return {
      weir: async () => {
        const begun = performance.now();
        await using history = await startHistory(broker.server);
        const { reads } = history;
        while ((await reads.list({ filter: {}, limit: 1 })).total.value < records) await pause(lookEvery);
        return (performance.now() - begun) / 1_000;
      },
      close: async () => broker[Symbol.asyncDispose](),
    };
  },
};
