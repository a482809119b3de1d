import { FileCallbackSecrets } from "../../adapters/files/file-callback-secrets.ts";
import { invokerFor } from "../../adapters/http/upstream/invoker-for.ts";
import type { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { workerAdapters } from "../../adapters/nats/open-nats.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import { openQueueWorker, type OpenQueueWorker } from "../../queue-worker/open-queue-worker.ts";
import { buildWorkerMetrics } from "../../queue-worker/worker-metrics.ts";
import type { HostStart } from "./host-start.ts";
import type { Broker } from "./broker.ts";
import type { Outgoing } from "./outgoing.ts";
import type { HostPlace } from "./place.ts";

/** One worker per queue. */
export interface OpenQueueWorkers {
  readonly workers: readonly OpenQueueWorker[];
  readonly workerLinks: readonly NatsLink[];
}

/** The workers claim calls from now on. */
export async function openQueueWorkers(given: HostStart & HostPlace & Broker & Outgoing): Promise<OpenQueueWorkers> {
  const { log, upstream, nats, layout } = given;
  const settings = { ...given.settings, secretMountPath: layout.credentials };
  const metrics = buildWorkerMetrics(given.admin.registry);
  const connected: { readonly queue: string; readonly link: NatsLink; readonly inboxPrefix: string }[] = [];
  for (const { name: queue } of given.queues) {
    const user = natsUser.worker(queue);
    connected.push({ queue, link: await given.connect(user), inboxPrefix: nats.access(user).inboxPrefix });
  }
  const workers: OpenQueueWorker[] = [];
  // In parallel: each close may wait as long as its runs take.
  given.lifecycle.onClose("queue-workers", () => Promise.all(workers.map((worker) => worker.close())));
  for (const { queue, link, inboxPrefix } of connected) {
    const worker = await openQueueWorker({
      settings: { ...settings, queue },
      ...workerAdapters(link, inboxPrefix),
      slots: ({ replicas, maxInflight }) => replicas * maxInflight,
      ...invokerFor(upstream, { ...settings, gatewayUrl: given.url }),
      sender: given.sender,
      callbackSecrets: new FileCallbackSecrets(layout.secrets),
      metrics,
      invocations: given.invocations,
      log: log.child({ part: "queue-worker", queue }),
    });
    workers.push(worker);
  }
  return { workers, workerLinks: connected.map(({ link }) => link) };
}
