import type { Pool } from "undici";

import type { Server } from "../background.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { cores, openTinyFunction } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";
import { benchFunction } from "../queue/bench-platform.ts";
import { p1Load } from "../rows/p1-sync-call.ts";
import { openAcceptance } from "../rows/p6-accept-call.ts";
import { openCallers, p7Slots, queuedCallsPerSecond } from "../rows/p7-queued-call.ts";
import { historyFaults, type HistoryFault } from "./history-fault.ts";
import { openHistorySides, type MeasureSide } from "./history-sides.ts";

type FaultOpener = (() => Promise<HistoryFault>) | undefined;

const loads: readonly (readonly [what: string, open: (fault: FaultOpener) => Promise<Contest>])[] = [
  ["synchronous calls as in P1", openSyncCalls],
  ["calls accepted as in P6", openAcceptedCalls],
  ["queued calls as in P7", openQueuedCalls],
];

/** H4: what a history costs calls. */
export const h4WithHistory: readonly BenchRow[] = loads.map(([what, open]) =>
  row("H4", `history kept: ${what}`, () => open(undefined)),
);

/** FH1: what calls notice of a history that cannot do its work. */
export const callsInFaults: readonly BenchRow[] = Object.entries(historyFaults).flatMap(([fault, openFault]) =>
  loads.map(([what, open]) => row("FH1", `history ${fault}: ${what}`, () => open(openFault))),
);

function row(id: string, what: string, open: () => Promise<Contest>): BenchRow {
  return {
    id,
    what,
    peer: "the same without a history",
    unit: "calls/s",
    firstBar: 0.98,
    goal: 0.98,
    open,
  };
}

async function openSyncCalls(fault: FaultOpener): Promise<Contest> {
  const wrk = needWrk();
  return withFunction(openTinyFunction(cores.rest), (functionPort) =>
    openHistorySides(
      { slots: 1, worker: false, functionPort, gatewayCore: cores.measured },
      ({ port }) => callsPerSecond(wrk, { ...p1Load, url: `http://127.0.0.1:${port}/function/${benchFunction.name}` }),
      fault,
    ),
  );
}

async function openAcceptedCalls(fault: FaultOpener): Promise<Contest> {
  const acceptance = openAcceptance();
  try {
    const sides = await openHistorySides(
      { slots: 1, worker: false, functionPort: 1 },
      (platform) => acceptance.measure(platform),
      fault,
    );
    return { ...sides, close: () => sides.close().finally(() => acceptance.close()) };
  } catch (err) {
    acceptance.close();
    throw err;
  }
}

function openQueuedCalls(fault: FaultOpener): Promise<Contest> {
  return withFunction(openTinyFunction(cores.rest), async (functionPort) => {
    const pools = new Map<number, Pool>();
    const measure: MeasureSide = ({ port, workerAdmin }) => {
      const pool = pools.get(port) ?? openCallers(port);
      pools.set(port, pool);
      return queuedCallsPerSecond(pool, workerAdmin);
    };
    const sides = await openHistorySides({ slots: p7Slots, worker: true, functionPort }, measure, fault);
    const close = async (): Promise<void> => {
      for (const pool of pools.values()) await pool.destroy();
      await sides.close();
    };
    return { ...sides, close };
  });
}

/** A contest for which a function runs. */
export async function withFunction(
  starting: Promise<Server>,
  open: (functionPort: number) => Promise<Contest>,
): Promise<Contest> {
  const fn = await starting;
  try {
    const contest = await open(fn.port);
    const close = async (): Promise<void> => {
      try {
        await contest.close();
      } finally {
        await fn.close();
      }
    };
    return { ...contest, close };
  } catch (err) {
    await fn.close();
    throw err;
  }
}
