import { readFileSync } from "node:fs";
import { join } from "node:path";

import { HttpCallbackSender } from "../adapters/http/http-callback-sender.ts";
import { HttpInvoker } from "../adapters/http/http-invoker.ts";
import { HttpProber } from "../adapters/http/http-prober.ts";
import { UndiciUpstream } from "../adapters/http/undici-upstream.ts";
import { openLocalProvider } from "../adapters/local/open-local-provider.ts";
import { NatsCallbackQueue } from "../adapters/nats/nats-callback-queue.ts";
import { NatsDeadLetters } from "../adapters/nats/nats-dead-letters.ts";
import { NatsEndpoints } from "../adapters/nats/nats-endpoints.ts";
import { NatsFunctionStore } from "../adapters/nats/nats-function-store.ts";
import { NatsLeases } from "../adapters/nats/nats-leases.ts";
import { NatsLink } from "../adapters/nats/nats-link.ts";
import { NatsQueueCatalog } from "../adapters/nats/nats-queue-catalog.ts";
import { NatsQueueStore } from "../adapters/nats/nats-queue-store.ts";
import { brokerTrouble, callAdapters } from "../adapters/nats/open-nats.ts";
import { findNatsServer } from "../adapters/nats/server/find-nats-server.ts";
import { tryPort } from "../adapters/nats/server/free-port.ts";
import { NatsServerProcess } from "../adapters/nats/server/nats-server-process.ts";
import { natsUser, natsUsers } from "../adapters/nats/server/nats-users.ts";
import { callbackSource, callSource } from "../adapters/nats/worker-sources.ts";
import { defaultQueue } from "../api/names.ts";
import { apiVersion, release } from "../api/version.ts";
import { buildGateway, drainGateway } from "../gateway/build-gateway.ts";
import { gatewayDrainTimeout } from "../gateway/settings.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { createLog } from "../process/log.ts";
import { runService } from "../process/run-service.ts";
import { environment } from "../process/settings.ts";
import { buildProvider } from "../provider/build-provider.ts";
import { buildQueueDoctor } from "../queue-doctor/build-queue-doctor.ts";
import { declareQueues } from "../queue-doctor/declare-queues.ts";
import { openQueueWorker } from "../queue-worker/open-queue-worker.ts";
import { hostCallbackRules, ownUrl } from "./addresses.ts";
import { formatBanner, providerWords } from "./banner.ts";
import { warnings } from "./check-settings.ts";
import { openCredentials } from "./credentials.ts";
import { openDataDirectory } from "./data-directory.ts";
import { chooseProvider } from "./provider-choice.ts";
import { readHostSettings } from "./read-host-settings.ts";
import { releaseInfo } from "./release-info.ts";
import { busyPort, failureText } from "./report-failure.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function freePort(wanted: number, flag: "port" | "admin-port"): Promise<number> {
  const port = await tryPort(wanted);
  if (port === undefined) throw new Error(busyPort(wanted, flag));
  return port;
}

const settings = readHostSettings(process.argv.slice(2));
const log = createLog("host", settings.logLevel);
for (const warning of warnings(settings)) say(warning);

await runService({
  log,
  drainTimeout: () => gatewayDrainTimeout(settings) + 15_000,
  reportFailure: (err) => {
    say(failureText(err));
    log.debug({ err }, "cannot start");
  },
  open: async (lifecycle, stop) => {
    const port = await freePort(settings.port, "port");
    const adminPort = await freePort(settings.adminPort, "admin-port");
    const data = await openDataDirectory(settings.data);
    lifecycle.onClose("data directory", () => data.close());
    const { layout } = data;
    const credentials = await openCredentials(layout.credentials);

    const admin = await openAdminServer({ host: "127.0.0.1", port: adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const queues = declareQueues(settings);
    const binary = await findNatsServer({ path: settings.natsServer, environment: environment(), say });
    const nats = await NatsServerProcess.open({
      binary,
      directory: layout.nats,
      ports: { port: settings.natsPort, monitorPort: settings.natsMonitorPort },
      durability: settings.durability,
      payloadLimit: settings.asyncMaxBody,
      users: natsUsers({ queues: queues.map(({ name }) => name), oneMachine: true }),
      onEvent: (event) => log.warn(event, "nats-server"),
    });
    lifecycle.onClose("nats-server", () => nats.close());
    // Even when this process is ended in a hurry the broker gets its signal.
    process.once("exit", () => nats.pid !== undefined && process.kill(nats.pid, "SIGTERM"));

    const connect = async (user: string): Promise<NatsLink> => {
      const link = await NatsLink.open({ ...nats.access(user), name: user, pingInterval: settings.natsPing });
      lifecycle.onClose(`broker connection of ${user}`, () => link.close());
      return link;
    };

    const doctorLink = await connect(natsUser.doctor);
    const doctor = buildQueueDoctor({
      store: new NatsQueueStore(doctorLink, {
        maxFileStore: nats.maxFileStore,
        payloadLimit: settings.asyncMaxBody,
        maxCallRecords: settings.maxCallRecords,
        replicas: 1,
        oneMachine: true,
      }),
      openCatalog: () => NatsQueueCatalog.open(doctorLink),
      leases: new NatsLeases(doctorLink),
      queues,
      period: settings.doctorPeriod,
      leaseTtl: settings.leaseTtl,
      log: log.child({ part: "queue-doctor" }),
    });
    await doctor.provision();
    const looking = doctor.run(stop);
    lifecycle.onClose("queue-doctor", () => looking);

    const providerLink = await connect(natsUser.provider);
    const providerFunctions = await NatsFunctionStore.open(providerLink);
    const chosen = await chooseProvider({
      file: layout.provider,
      wanted: settings.provider,
      functions: async () => (await providerFunctions.list(settings.functionNamespace)).length,
      engineAnswers: async () => false,
    });
    const local = await openLocalProvider({ data: layout.run, secrets: layout.secrets, logs: layout.logs });
    lifecycle.onClose("replicas", () => local.close());
    const url = ownUrl(settings, port);
    const provider = buildProvider({
      functions: providerFunctions,
      endpoints: await NatsEndpoints.open(providerLink),
      replicas: local.replicas,
      prober: new HttpProber(),
      gatewayUrl: url,
      secretsDirectory: (ref) => local.secretsDirectory(ref),
      upstreamTimeout: settings.upstreamTimeout,
      log: log.child({ part: "provider" }),
    });
    await provider.open();
    lifecycle.onClose("provider", () => provider.close());

    const upstream = new UndiciUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const adminUrl = `http://127.0.0.1:${adminPort}`;
    const callbackRules = hostCallbackRules(settings, url, [adminUrl, nats.url, nats.monitorUrl]);
    const sender = new HttpCallbackSender({
      rules: callbackRules,
      gatewayOrigin: url,
      gatewayCertificate: settings.tlsCert === undefined ? undefined : readFileSync(settings.tlsCert),
      headTimeout: settings.callbackTimeout / 3,
      timeout: settings.callbackTimeout,
    });
    lifecycle.onClose("callback sender", () => sender.close());

    const workerLink = await connect(natsUser.worker(defaultQueue));
    const { inboxPrefix } = nats.access(natsUser.worker(defaultQueue));
    const worker = await openQueueWorker({
      settings: { ...settings, queue: defaultQueue },
      ...callAdapters(workerLink),
      catalog: await NatsQueueCatalog.open(workerLink),
      functions: await NatsFunctionStore.open(workerLink),
      endpoints: await NatsEndpoints.open(workerLink),
      callbacks: new NatsCallbackQueue(workerLink),
      deadLetters: new NatsDeadLetters(workerLink),
      openDeliveries: (queue) => callSource(workerLink, queue.name, queue.ackWait, inboxPrefix),
      openCallbacks: (queue) => callbackSource(workerLink, queue.name, queue.ackWait, inboxPrefix),
      slots: (queue) => queue.replicas * queue.maxInflight,
      invoker: new HttpInvoker(upstream),
      sender,
      registry: admin.registry,
      reconnects: () => workerLink.reconnects,
      log: log.child({ part: "queue-worker" }),
    });
    lifecycle.onClose("queue-worker", () => worker.close());

    const gatewayLink = await connect(natsUser.gateway);
    const gateway = buildGateway({
      settings: { ...settings, port, secretMountPath: layout.credentials },
      ...callAdapters(gatewayLink),
      functions: await NatsFunctionStore.open(gatewayLink),
      endpoints: await NatsEndpoints.open(gatewayLink),
      queues: await NatsQueueCatalog.open(gatewayLink),
      upstream,
      secrets: local.secrets,
      logs: local.logs,
      callbackRules,
      info: {
        provider: {
          provider: `weir-${chosen}`,
          orchestration: chosen === "local" ? "process" : chosen,
          version: release,
        },
        version: await releaseInfo(),
        arch: process.arch,
        edition: settings.edition,
        apiVersion,
        functionNamespace: settings.functionNamespace,
        namespaceAliases: [...settings.namespaceAliases],
        durability: settings.durability,
      },
      registry: admin.registry,
      reconnects: () => gatewayLink.reconnects,
      log: log.child({ part: "gateway" }),
    });
    await gateway.open();
    lifecycle.onClose("gateway", () => gateway.close());

    admin.addCheck(() => brokerTrouble(gatewayLink) ?? doctor.trouble);
    admin.addCheck(() => provider.check());
    admin.ready();
    lifecycle.onClose("readiness", () => {
      admin.drain();
      return drainGateway(gateway, settings.shutdownDelay);
    });
    process.stdout.write(
      formatBanner({
        url,
        adminUrl,
        user: credentials.user,
        passwordFile: join(settings.data, "credentials", "basic-auth-password"),
        edition: settings.edition,
        provider: providerWords[chosen],
        durability: settings.durability,
      }),
    );
  },
});
