import type { CallHistory } from "../../runtime/core/ports/call-history.ts";
import { quantile } from "../../test/support/load.ts";
import { openNatsServer } from "../../test/support/nats-server.ts";
import type { Contest } from "../bench-row.ts";
import { millionCalls, type MillionCalls } from "./million-calls.ts";
import { startHistory } from "./start-history.ts";

/** One read, of many in turns: `turn` counts from 0. */
export type TimedRead = (reads: CallHistory, calls: MillionCalls, turn: number) => Promise<void>;

const reads = 200;

/** Measures the p95 of a read of a history of a million calls, in milliseconds, as a gateway asks for it. */
export async function openTimedReads(read: TimedRead): Promise<Contest> {
  const calls = await millionCalls();
  const opened = new AsyncDisposableStack();
  try {
    const server = await openNatsServer({ users: true });
    opened.defer(() => server.close());
    const history = opened.use(await startHistory(server, { directory: calls.directory }));
    return {
      weir: async () => {
        const times: number[] = [];
        for (let turn = 0; turn < reads; turn += 1) {
          const begun = performance.now();
          await read(history.reads, calls, turn);
          times.push(performance.now() - begun);
        }
        return quantile(
          times.toSorted((a, b) => a - b),
          0.95,
        );
      },
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

/** One of `items`, in turns. */
export function inTurn<T>(items: readonly T[], turn: number): T {
  const item = items[turn % items.length];
  if (item === undefined) throw new TypeError("there is nothing to take in turns");
  return item;
}
