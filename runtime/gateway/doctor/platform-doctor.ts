import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

import type { DoctorReport } from "../../api/schemas/doctor-report.ts";
import type { SetAsidePart } from "../../api/schemas/system-info.ts";
import { release } from "../../api/version.ts";
import type { Asked, DoctorFacts, ExaminedTimes } from "../../core/doctor/doctor-facts.ts";
import { doctorReport } from "../../core/doctor/doctor-report.ts";
import { SharedReport } from "../../core/doctor/shared-report.ts";
import type { StartTimes } from "../../core/doctor/start-times.ts";
import type { BrokerView } from "../../core/ports/broker-view.ts";
import type { Disks } from "../../core/ports/disks.ts";
import { queueFigures, type QueueViewParts } from "../../core/queues/queue-views.ts";
import type { FunctionTable } from "../../core/replicas/function-table.ts";

/** What the doctor examines. */
export interface DoctorParts {
  readonly functions: Pick<FunctionTable, "entries">;
  readonly starts: Pick<StartTimes, "last">;
  readonly queues: QueueViewParts;
  readonly broker: BrokerView;
  readonly disks: Disks | undefined;
  /** Why replicas cannot be started now, or undefined; absent where this process does not know. */
  readonly providerFault?: (() => string | undefined) | undefined;
  readonly times: ExaminedTimes;
  /** As promised in `/system/info`. */
  readonly durability: string;
  /** As in `/system/info`. */
  readonly setAside: readonly SetAsidePart[];
}

/** Examines the platform. */
export interface PlatformDoctor {
  /** Resolves within 2 s; the checks are made at most every 10 s, for all readers together. */
  report(): Promise<DoctorReport>;
}

/** Milliseconds. */
const keptFor = 10_000;
/** Milliseconds until whoever was asked counts as silent; the rest of 2 s is for the checks themselves. */
const factTimeout = 1_750;

export function buildPlatformDoctor(parts: DoctorParts): PlatformDoctor {
  const shared = new SharedReport(async () => doctorReport(await gatherFacts(parts)), keptFor);
  return { report: () => shared.read() };
}

/** All that is known now; what does not come within `within` milliseconds is missing. */
export async function gatherFacts(parts: DoctorParts, within = factTimeout): Promise<DoctorFacts> {
  const { broker, disks, providerFault, queues, times, durability, setAside } = parts;
  const ended = new AbortController();
  const deadline = pause(within, undefined, { signal: ended.signal }).catch(() => {});
  const ask = async <T>(asked: Promise<T>): Promise<Asked<T>> =>
    Promise.race([
      asked.then(
        (value) => ({ value }),
        (err: unknown) => ({ missing: err instanceof Error ? err.message : String(err) }),
      ),
      deadline.then(() => ({ missing: `no reply within ${within} ms` })),
    ]);
  const declared = queues.table.isKnown ? queues.table.list() : undefined;
  const [store, room, figures] = await Promise.all([
    ask(broker.store()),
    ask(disks?.read() ?? Promise.resolve([])),
    Promise.all(
      (declared ?? []).map(async (queue) => ({ queue, figures: await ask(queueFigures(queues, queue.name)) })),
    ),
  ]);
  ended.abort();
  const { fault, version, isTooOld } = broker;
  return {
    now: Date.now(),
    node: hostname(),
    release,
    times,
    durability,
    setAside,
    place: queues.place,
    broker: { fault, version, isTooOld, store },
    provider: providerFault && { fault: providerFault() },
    queues: declared === undefined ? undefined : figures,
    functions: [...parts.functions.entries()].map(({ key, wanted, facts, endpoints }) => ({
      wanted,
      facts,
      endpoints,
      lastStart: parts.starts.last(key),
    })),
    disks: room,
  };
}
