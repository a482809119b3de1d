import { clusterConfig, doctorCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { checkDurability } from "../adapters/nats/link/check-durability.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { doctorAdapters, natsOptions } from "../adapters/nats/open-nats.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import { startSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { followBroker } from "../process/follow-broker.ts";
import { readCommandLine } from "../process/command-line.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { createLog } from "../process/log.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { runService } from "../process/run-service.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { buildQueueDoctor } from "./build-queue-doctor.ts";
import { declareQueues } from "./declare-queues.ts";
import { buildDoctorMetrics } from "./doctor-metrics.ts";
import { whenBrokerIsThere } from "./when-broker-is-there.ts";
import { clusterRule, queueDoctorRules, queueDoctorSettings, storeRule } from "./settings.ts";

const typed = readCommandLine(
  {
    name: "queue-doctor",
    about: "Provisions the queues of Weir and looks after them.",
    version: release,
    flags: flagsOf(queueDoctorSettings),
  },
  process.argv.slice(2),
);
const { settings, warnings } = readOrExit(() =>
  startSettings(queueDoctorSettings, {
    typed,
    environment: environment(),
    readFile: readConfigFile,
    rules: [...queueDoctorRules, storeRule, clusterRule, brokerUserRule, passwordFileRule],
    sharedFile: true,
  }),
);
const log = createLog("queue-doctor", settings.logLevel);
for (const warning of warnings) log.warn(warning);

/** Milliseconds between two attempts to provision. */
const brokerWait = 1_000;
const queues = declareQueues(settings);
const access = () => natsOptions(settings, "queue-doctor", "_INBOX.dr");
const adaptersOf = (link: NatsLink) =>
  doctorAdapters(
    link,
    {
      maxFileStore: settings.maxFileStore,
      payloadLimit: settings.asyncMaxBody,
      maxCallRecords: settings.maxCallRecords,
      replicas: Number(settings.natsReplicas),
      oneMachine: settings.oneMachine,
    },
    settings.natsMonitorUrl,
  );

if (settings.recreate.length > 0) {
  // A command beside the doctor that runs: it makes the stores anew and is done.
  const link = await NatsLink.open(access());
  await adaptersOf(link).store.provision(queues, settings.recreate);
  await link.close();
  log.info({ queues: settings.recreate }, "recreated, empty");
} else
  await runService({
    log,
    drainTimeout: () => 10_000,
    open: async (lifecycle, stopping) => {
      const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
      lifecycle.onClose("admin server", () => admin.close());

      const link = NatsLink.begin(access());
      lifecycle.onClose("broker", () => link.close());
      const doctor = buildQueueDoctor({
        ...adaptersOf(link),
        ...(settings.provider === "kubernetes" ? await openCluster(lifecycle) : {}),
        queues,
        recreate: [],
        period: settings.doctorPeriod,
        leaseTtl: settings.leaseTtl,
        times: settings,
        metrics: buildDoctorMetrics(admin.registry),
        log,
      });
      followBroker({ admin, log }, [link.trouble], () => doctor.trouble);
      await link.opened;
      const provision = async (): Promise<void> => {
        await checkDurability(settings.durability, settings.natsMonitorUrl);
        await doctor.provision();
      };
      const onWait = (err: Error): void => log.warn({ err }, "waits for the broker to be ready");
      await whenBrokerIsThere(provision, { every: brokerWait, stop: stopping, onWait });
      admin.ready();
      log.info({ adminPort: admin.port }, "queue-doctor is ready");

      const stop = new AbortController();
      const running = doctor.run(stop.signal);
      lifecycle.onClose("queue-doctor", () => {
        stop.abort();
        return running;
      });
    },
  });

/** The broker's servers, where they are pods of the platform. */
async function openCluster(lifecycle: Lifecycle) {
  const { close, servers } = doctorCluster(await clusterConfig(settings), settings);
  lifecycle.onClose("API server", close);
  return { servers };
}
