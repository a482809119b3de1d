import { clusterConfig, doctorCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { checkDurability } from "../adapters/nats/link/check-durability.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { doctorAdapters, natsOptions } from "../adapters/nats/open-nats.ts";
import { release } from "../api/version.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster } from "../process/hold-cluster.ts";
import { start, type ServiceParts } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { buildQueueDoctor } from "./build-queue-doctor.ts";
import { declareQueues } from "./declare-queues.ts";
import { buildDoctorMetrics } from "./doctor-metrics.ts";
import { clusterRule, queueDoctorRules, queueDoctorSettings, storeFacts, storeRule } from "./settings.ts";
import { whenBrokerIsThere } from "./when-broker-is-there.ts";

const { settings, log, run } = start({
  name: "queue-doctor",
  about: "Provisions the queues of Weir and looks after them.",
  version: release,
  settings: queueDoctorSettings,
  rules: [...queueDoctorRules, storeRule, clusterRule, brokerUserRule, passwordFileRule],
});
const queues = declareQueues(settings);
const onCluster = settings.provider === "kubernetes";
const broker = () => natsOptions(settings, "queue-doctor", "_INBOX.dr");
const adapters = (link: NatsLink) => doctorAdapters(link, storeFacts(settings), settings.natsMonitorUrl);

async function open(parts: ServiceParts): Promise<void> {
  const { lifecycle, admin, stop } = parts;
  const link = NatsLink.begin(broker());
  lifecycle.onClose("broker", () => link.close());
  const doctor = buildQueueDoctor({
    ...adapters(link),
    ...(onCluster ? holdCluster(parts, doctorCluster(await clusterConfig(settings), settings)) : {}),
    queues,
    recreate: [],
    period: settings.doctorPeriod,
    leaseTtl: settings.leaseTtl,
    times: settings,
    metrics: buildDoctorMetrics(admin.registry),
    log,
  });
  followBroker(parts, [link.state], () => doctor.problem);
  await link.opened;
  const provision = () => checkDurability(settings.durability, settings.natsMonitorUrl).then(() => doctor.provision());
  const onWait = (err: Error): void => log.warn({ err }, "waiting for the broker to be ready");
  await whenBrokerIsThere(provision, { every: 1_000, stop, onWait });
  const running = doctor.run(stop);
  lifecycle.onClose("queue-doctor", () => running);
}

if (settings.recreate.length === 0) await run({ drainTimeout: 10_000, open });
else {
  // A command beside the running doctor: it recreates the stores and exits.
  const link = await NatsLink.open(broker());
  await adapters(link).store.provision(queues, settings.recreate);
  await link.close();
  log.info({ queues: settings.recreate }, "recreated, empty");
}
