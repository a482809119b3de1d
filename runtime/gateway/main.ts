import { readCommandLine } from "../process/command-line.ts";
import { createLog } from "../process/log.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { runService } from "../process/run-service.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { UndiciUpstream } from "../adapters/http/undici-upstream.ts";
import { LocalLogSource } from "../adapters/local/local-log-source.ts";
import { FileSecretStore } from "../adapters/files/file-secret-store.ts";
import { NatsEndpoints } from "../adapters/nats/nats-endpoints.ts";
import { NatsFunctionStore } from "../adapters/nats/nats-function-store.ts";
import { NatsLink } from "../adapters/nats/nats-link.ts";
import { NatsQueueCatalog } from "../adapters/nats/nats-queue-catalog.ts";
import { brokerTrouble, callAdapters, natsOptions } from "../adapters/nats/open-nats.ts";
import { clusterGatewayUrl } from "../api/platform-settings.ts";
import { flagsOf, startSettings } from "../api/read-settings.ts";
import { apiVersion, release } from "../api/version.ts";
import { gatewayOrigins, portsOf } from "../core/callback-origins.ts";
import { buildGateway, drainGateway } from "./build-gateway.ts";
import { gatewayDrainTimeout, gatewaySettings } from "./settings.ts";

const flags = readCommandLine(
  {
    name: "gateway",
    about: "The HTTP gateway of Weir, beside a broker that runs already.",
    version: release,
    flags: flagsOf(gatewaySettings),
  },
  process.argv.slice(2),
);
const settings = startSettings(gatewaySettings, { flags, environment: environment(), readFile: readConfigFile });
const log = createLog("gateway", settings.logLevel);

await runService({
  log,
  drainTimeout: () => gatewayDrainTimeout(settings),
  open: async (lifecycle) => {
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = await NatsLink.open(natsOptions(settings, "gateway", "_INBOX.gw"));
    lifecycle.onClose("broker", () => link.close());
    admin.addCheck(() => brokerTrouble(link));

    const upstream = new UndiciUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const gateway = buildGateway({
      settings,
      ...callAdapters(link),
      functions: await NatsFunctionStore.open(link),
      endpoints: await NatsEndpoints.open(link),
      queues: await NatsQueueCatalog.open(link),
      upstream,
      secrets: new FileSecretStore(settings.secretsDir),
      logs: new LocalLogSource(settings.logsDir),
      callbackRules: {
        policy: settings.callbackPolicy,
        allow: settings.callbackAllow,
        gatewayOrigins: gatewayOrigins({
          ...settings,
          clusterGatewayUrl: clusterGatewayUrl(settings),
          publicUrls: [settings.publicUrl],
        }),
        closedPorts: [settings.adminPort, ...portsOf(settings.natsUrl)],
      },
      info: {
        provider: { provider: "weir-local", orchestration: "process", version: release },
        version: { release, sha: "unreleased", commit_message: "unreleased" },
        arch: process.arch,
        edition: settings.edition,
        apiVersion,
        functionNamespace: settings.functionNamespace,
        namespaceAliases: [...settings.namespaceAliases],
        durability: "interval",
      },
      registry: admin.registry,
      reconnects: () => link.reconnects,
      log,
    });
    lifecycle.onClose("gateway", () => gateway.close());
    const port = await gateway.open();
    log.info({ port, adminPort: admin.port }, "gateway is ready");

    admin.ready();
    lifecycle.onClose("readiness", () => {
      admin.drain();
      return drainGateway(gateway, settings.shutdownDelay);
    });
  },
});
