import type { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { doctorAdapters } from "../../adapters/nats/open-nats.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import { buildQueueDoctor, type BuiltQueueDoctor } from "../../queue-doctor/build-queue-doctor.ts";
import { buildDoctorMetrics } from "../../queue-doctor/doctor-metrics.ts";
import type { HostStart } from "./host-start.ts";
import { machineStore } from "../settings.ts";
import type { Broker } from "./broker.ts";
import type { HostPlace } from "./place.ts";

/** The queue-doctor, which repairs the queues until the stop. */
export interface OpenDoctor {
  readonly doctor: BuiltQueueDoctor;
  readonly doctorLink: NatsLink;
}

/** Provisions the broker's streams, then starts the queue-doctor. */
export async function openDoctor(given: HostStart & HostPlace & Broker): Promise<OpenDoctor> {
  const { settings, queues, lifecycle, nats } = given;
  const doctorLink = await given.connect(natsUser.doctor);
  const store = { ...machineStore(settings), maxFileStore: nats.maxFileStore };
  const doctor = buildQueueDoctor({
    ...doctorAdapters(doctorLink, store, [nats.monitorUrl], () => nats.sync()),
    queues,
    recreate: [...settings.recreate, ...given.recreate],
    servers: { restart: () => nats.restart() },
    period: settings.doctorPeriod,
    leaseTtl: settings.leaseTtl,
    times: settings,
    metrics: buildDoctorMetrics(given.admin.registry),
    log: given.log.child({ part: "queue-doctor" }),
  });
  await doctor.provision();
  await given.onRecreated();
  const running = doctor.run(given.stop);
  lifecycle.onClose("queue-doctor", () => running);
  return { doctor, doctorLink };
}
