import { defaultQueue } from "../../api/names.ts";
import type { DoctorReport, PlatformPart } from "../../api/schemas/doctor-report.ts";
import type { DoctorFacts } from "./doctor-facts.ts";
import { judgeBroker } from "./judge-broker.ts";
import { judgeDisks } from "./judge-disks.ts";
import { judgeFunctions } from "./judge-functions.ts";
import { judgeProvider } from "./judge-provider.ts";
import { judgeQueues } from "./judge-queues.ts";
import { judgeTimeouts } from "./judge-timeouts.ts";

/** The report of `/system/doctor`: the findings of every check that these facts allow, in order. */
export function doctorReport(facts: DoctorFacts): DoctorReport {
  const { now, times, queues, functions } = facts;
  const declared = (queues ?? []).map(({ queue }) => queue);
  return {
    checkedAt: new Date(now).toISOString(),
    parts: [...partsOf(facts)],
    findings: [
      ...judgeTimeouts(functions, times, declared),
      ...judgeBroker(facts),
      ...judgeProvider(facts),
      ...judgeQueues(queues, times.callMaxAge),
      ...judgeDisks(facts.disks),
      ...judgeFunctions(functions, times.wakeTimeout, now),
    ],
  };
}

/** This gateway, the queue-workers of each queue, and the broker; others are not known to a gateway. */
function partsOf({ node, release, broker, queues = [] }: DoctorFacts): readonly PlatformPart[] {
  const { version, store, fault } = broker;
  const copies = "value" in store ? store.value.copies : { wanted: 1, current: 0 };
  return [
    { part: "gateway", node, release, replicas: 1, ready: 1 },
    ...queues.map(({ queue, figures }): PlatformPart => {
      const slots = "value" in figures ? figures.value.workers.slots : 0;
      const part = queue.name === defaultQueue ? "queue-worker" : `queue-worker-${queue.name}`;
      // The one queue-worker of a machine counts as several when it has slots for several.
      return { part, replicas: queue.replicas, ready: Math.min(queue.replicas, Math.ceil(slots / queue.maxInflight)) };
    }),
    {
      part: "broker",
      ...(version === undefined ? {} : { release: version }),
      replicas: copies.wanted,
      ready: fault === undefined ? copies.current : 0,
    },
  ];
}
