import type { BenchRow } from "../bench-row.ts";
import { historyFaultRatios } from "./fault-ratios.ts";
import { h1Lists } from "./h1-lists.ts";
import { h2Disk } from "./h2-disk.ts";
import { h3Lag } from "./h3-lag.ts";
import { callsInFaults, h4WithHistory } from "./h4-with-history.ts";
import { h5Cost } from "./h5-cost.ts";
import { h6CatchUp } from "./h6-catch-up.ts";
import { h7Rollups } from "./h7-rollups.ts";
import { h8Lines } from "./h8-lines.ts";

/** What the history of calls takes. */
export const historyRows: readonly BenchRow[] = [
  ...h1Lists,
  ...h2Disk,
  h3Lag,
  ...h4WithHistory,
  ...h5Cost,
  h6CatchUp,
  ...h7Rollups,
  ...h8Lines,
  ...callsInFaults,
  ...historyFaultRatios,
];
