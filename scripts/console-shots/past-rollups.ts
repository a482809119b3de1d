import type { RollupColumns, Rollups } from "../../runtime/api/schemas/history/rollups.ts";
import type { ShopFunction } from "./shop-functions.ts";

/** Intervals of 10 s in 15 minutes. */
const count = 90;
const step = 10_000;

/**
 * What the history would say of the last 15 minutes, had the functions been called for so long. `named` are keys of
 * functions such as `search.functions`, separated by commas.
 */
export function pastRollups(functions: readonly ShopFunction[], named: string, now: number): Rollups {
  const keys = named.split(",");
  return {
    step: "10s",
    from: new Date((Math.floor(now / step) - count) * step).toISOString(),
    series: functions.flatMap((each, index) => {
      const [, namespace = ""] = keys.find((key) => key.startsWith(`${each.name}.`))?.split(".") ?? [];
      return namespace === "" ? [] : [{ functionName: each.name, namespace, ...columnsOf(each, index) }];
    }),
  };
}

function columnsOf({ delay, rate, failing = 0, replicas = 1 }: ShopFunction, phase: number): RollupColumns {
  const column = (value: (wave: number, index: number) => number): number[] =>
    Array.from({ length: count }, (_, index) =>
      value(1 + 0.3 * Math.sin(index / 9 + 2 * phase) + 0.05 * Math.sin(index * 1.7 + phase), index),
    );
  const unknown = Array.from({ length: count }, () => null);
  const calls = column((wave) => Math.round((rate * wave * step) / 1_000));
  return {
    calls,
    // Those of 9 intervals are in one of them.
    errors: calls.map((each, index) => (index % 9 === phase ? Math.min(each, Math.round(9 * each * failing)) : 0)),
    p50: rate === 0 ? unknown : column((wave) => delay + 2 * wave),
    p95: rate === 0 ? unknown : column((wave) => delay * (1.1 + wave / 3) + 4),
    coldStarts: column(() => 0),
    replicas: column(() => replicas),
    inFlight: column((wave) => Math.round((rate * wave * delay) / 1_000)),
    queued: column(() => 0),
    scalings: [],
  };
}
