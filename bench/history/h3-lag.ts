import { setTimeout as pause } from "node:timers/promises";

import type { CallHistory } from "../../runtime/core/ports/call-history.ts";
import { quantile } from "../../test/support/load.ts";
import { openRecordBroker } from "../../test/support/record-broker.ts";
import type { BenchRow } from "../bench-row.ts";
import { startHistory } from "./start-history.ts";
import { writeSteadily } from "./steady-records.ts";

const rate = 2_000;
const duration = 10_000;
/** Of so many calls one is looked for, so that the looks are no load themselves. */
const sampled = 200;
const lookEvery = 20;
const patience = 60_000;

/** H3: from the end of a call in its record to the row that says so, while many calls are written. */
export const h3Lag: BenchRow = {
  id: "H3",
  what: `history: from a record to its row at ${rate} calls/s, p99`,
  peer: "nothing",
  unit: "ms",
  judged: "value",
  lessIsBetter: true,
  firstBar: 1_000,
  goal: 1_000,
  open: async () => {
    const opened = new AsyncDisposableStack();
    try {
      const broker = opened.use(await openRecordBroker());
      const { reads } = opened.use(await startHistory(broker.server));
      return {
        weir: async () => {
          const lags: Promise<number>[] = [];
          let ended = 0;
          const onEnded = (id: string): void => {
            ended += 1;
            if (ended % sampled === 0) lags.push(lagOf(reads, id));
          };
          await writeSteadily({ ledger: broker.ledger, rate, duration, onEnded });
          return quantile(
            (await Promise.all(lags)).toSorted((a, b) => a - b),
            0.99,
          );
        },
        close: () => opened.disposeAsync(),
      };
    } catch (err) {
      await opened.disposeAsync();
      throw err;
    }
  },
};

/** Milliseconds until the row of a call says that it is done; infinite if it does not. */
async function lagOf(reads: CallHistory, id: string): Promise<number> {
  const begun = performance.now();
  for (let lag = 0; lag < patience; lag = performance.now() - begun) {
    // Far behind, more looks may be under way than it admits at a time.
    const call = await reads.get(id).catch(() => undefined);
    if (call?.row.state === "done") return performance.now() - begun;
    await pause(lookEvery);
  }
  return Number.POSITIVE_INFINITY;
}
