import { NatsLeases } from "../adapters/nats/nats-leases.ts";
import { NatsLink } from "../adapters/nats/nats-link.ts";
import { NatsQueueCatalog } from "../adapters/nats/nats-queue-catalog.ts";
import { NatsQueueStore } from "../adapters/nats/nats-queue-store.ts";
import { brokerTrouble, natsOptions } from "../adapters/nats/open-nats.ts";
import { flagsOf, startSettings } from "../api/read-settings.ts";
import { release } from "../api/version.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { readCommandLine } from "../process/command-line.ts";
import { createLog } from "../process/log.ts";
import { runService } from "../process/run-service.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { buildQueueDoctor } from "./build-queue-doctor.ts";
import { declareQueues } from "./declare-queues.ts";
import { queueDoctorSettings } from "./settings.ts";

const flags = readCommandLine(
  {
    name: "queue-doctor",
    about: "Provisions the queues of Weir and looks after them.",
    version: release,
    flags: flagsOf(queueDoctorSettings),
  },
  process.argv.slice(2),
);
const settings = startSettings(queueDoctorSettings, { flags, environment: environment(), readFile: readConfigFile });
const log = createLog("queue-doctor", settings.logLevel);

await runService({
  log,
  drainTimeout: () => 10_000,
  open: async (lifecycle) => {
    const queues = declareQueues(settings);
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = await NatsLink.open(natsOptions(settings, "queue-doctor", "_INBOX.dr"));
    lifecycle.onClose("broker", () => link.close());
    const doctor = buildQueueDoctor({
      store: new NatsQueueStore(link, {
        maxFileStore: settings.maxFileStore,
        payloadLimit: settings.asyncMaxBody,
        maxCallRecords: settings.maxCallRecords,
        replicas: Number(settings.natsReplicas),
        oneMachine: settings.oneMachine,
      }),
      openCatalog: () => NatsQueueCatalog.open(link),
      leases: new NatsLeases(link),
      queues,
      period: settings.doctorPeriod,
      leaseTtl: settings.leaseTtl,
      log,
    });
    admin.addCheck(() => brokerTrouble(link) ?? doctor.trouble);
    await doctor.provision();
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
