import { signal, useSignal, useSignalEffect, type ReadonlySignal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { RollupColumns, Rollups } from "../../../api/schemas/history/rollups.ts";
import { useConsole } from "../console-context.ts";
import { failureFrom, type RequestFailure } from "../requests/request-failure.ts";
import { pause } from "../requests/wait-for.ts";

/** Most functions of one request. */
const mostFunctions = 50;
const every = 10_000;
/** Rows that were scrolled past are not worth a request, milliseconds. */
const settled = 250;

/** Figures of the functions that are in sight, the last 15 minutes by 10 s, read again every 10 s. */
export function useRollupsOf(keys: ReadonlySignal<readonly string[]>): {
  readonly of: (key: string) => ReadonlySignal<RollupColumns | undefined>;
  /** Begin of the first interval, milliseconds since 1970. */
  readonly from: ReadonlySignal<number>;
  readonly failure: ReadonlySignal<RequestFailure | undefined>;
} {
  const { requests, connection } = useConsole();
  const failure = useSignal<RequestFailure | undefined>(undefined);
  const from = useSignal(0);
  const cells = useMemo(() => new Map<string, Signal<RollupColumns | undefined>>(), []);
  const cellOf = (key: string): Signal<RollupColumns | undefined> => {
    const found = cells.get(key) ?? signal<RollupColumns | undefined>(undefined);
    cells.set(key, found);
    return found;
  };
  useSignalEffect(() => {
    const asked = keys.value.slice(0, mostFunctions);
    void connection.returns.value;
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const { series, ...span } = await requests.get<Rollups>("/system/rollups", {
        query: { function: asked.join(","), since: "15m", step: "10s" },
        signal: stop.signal,
        act: "read the figures",
      });
      failure.value = undefined;
      from.value = Date.parse(span.from);
      for (const one of series) cellOf(`${one.functionName ?? ""}.${one.namespace ?? ""}`).value = one;
    };
    const keepReading = async (): Promise<void> => {
      await pause(settled, stop.signal);
      while (!stop.signal.aborted && asked.length > 0) {
        try {
          await read();
        } catch (err) {
          if (!stop.signal.aborted) failure.value = failureFrom(err);
          // Nothing will come of asking again.
          if (failure.peek()?.code === "history_off") return;
        }
        await pause(every, stop.signal);
      }
    };
    void keepReading();
    return () => stop.abort();
  });
  return { of: cellOf, from, failure };
}

/** The last value of a column that is known. */
export function lastKnown(values: readonly (number | null)[]): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}
