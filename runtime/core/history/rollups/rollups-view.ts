import type { RollupColumns, Rollups } from "../../../api/schemas/history/rollups.ts";
import type { RollupQuery } from "../../ports/call-history.ts";
import type { RollupSeries } from "./rollup.ts";

/** Rollups as clients see them; `top` only where all functions are in one series. */
export function rollupsView(
  { step, since }: Pick<RollupQuery, "step" | "since">,
  series: readonly RollupSeries[],
  top?: readonly RollupSeries[],
): Rollups {
  return {
    step,
    from: new Date(since).toISOString(),
    series: series.map(columnsOf),
    ...(top === undefined ? {} : { top: top.map(columnsOf) }),
  };
}

function columnsOf({ name, namespace, ...series }: RollupSeries): RollupColumns {
  return {
    ...(name === "" ? {} : { functionName: name, namespace }),
    calls: [...series.calls],
    errors: [...series.errors],
    p50: [...series.p50],
    p95: [...series.p95],
    coldStarts: [...series.coldStarts],
    replicas: [...series.replicas],
    inFlight: [...series.inFlight],
    queued: [...series.queued],
    scalings: series.scalings.map((scaling) => ({ ...scaling, at: new Date(scaling.at).toISOString() })),
  };
}
