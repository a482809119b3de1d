import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import { StartTimes } from "../../runtime/core/doctor/start-times.ts";
import type { BrokerView } from "../../runtime/core/ports/broker-view.ts";
import {
  buildPlatformDoctor,
  type DoctorParts,
  type PlatformDoctor,
} from "../../runtime/gateway/doctor/platform-doctor.ts";
import { memoryQueues } from "./memory-queues.ts";

/** A broker that replies and has room. */
export function memoryBroker(over: Partial<BrokerView> = {}): BrokerView {
  return {
    fault: undefined,
    version: "2.15.1",
    isTooOld: false,
    store: async () => ({
      whole: { used: 0, limit: 1_000 },
      records: { used: 0, limit: 1_000 },
      recordBytes: { used: 0, limit: 1_000 },
      copies: { wanted: 1, current: 1 },
    }),
    ...over,
  };
}

/** What the doctor of a platform without functions examines. */
export function memoryDoctorParts(over: Partial<DoctorParts> = {}): DoctorParts {
  const functions = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  return {
    functions,
    starts: new StartTimes(functions),
    queues: memoryQueues(),
    broker: memoryBroker(),
    disks: undefined,
    times: {
      upstreamTimeout: 30_000,
      timeoutMax: 3_600_000,
      wakeTimeout: 60_000,
      drainTimeout: 30_000,
      callMaxAge: 604_800_000,
    },
    durability: "interval",
    setAside: [],
    ...over,
  };
}

export function memoryDoctor(): PlatformDoctor {
  return buildPlatformDoctor(memoryDoctorParts());
}
