import type { SystemInfo } from "../../api/schemas/system-info.ts";
import type { ExaminedTimes } from "../../core/doctor/doctor-facts.ts";
import { StartTimes } from "../../core/doctor/start-times.ts";
import type { QueueViewParts } from "../../core/queues/queue-views.ts";
import type { FunctionTable } from "../../core/replicas/function-table.ts";
import { drainTimeoutOf, type DrainFacts } from "../../settings/drain-settings.ts";
import { buildPlatformDoctor, type DoctorParts, type PlatformDoctor } from "./platform-doctor.ts";

interface GatewayDoctorParts extends Pick<DoctorParts, "broker" | "providerFault"> {
  readonly disks?: DoctorParts["disks"];
  readonly settings: DrainFacts & Omit<ExaminedTimes, "drainTimeout">;
  readonly info: Pick<SystemInfo, "durability" | "setAside">;
}

/** The doctor of a gateway with these parts and tables; it also measures how long functions take to start. */
export function gatewayDoctor(
  { broker, disks, providerFault, settings, info }: GatewayDoctorParts,
  functions: FunctionTable,
  queues: QueueViewParts,
): PlatformDoctor {
  return buildPlatformDoctor({
    functions,
    starts: new StartTimes(functions),
    queues,
    broker,
    disks,
    providerFault,
    times: { ...settings, drainTimeout: drainTimeoutOf(settings) },
    durability: info.durability,
    setAside: info.setAside ?? [],
  });
}
