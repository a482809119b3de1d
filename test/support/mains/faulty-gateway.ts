import { FileSecretStore } from "../../../runtime/adapters/files/file-secret-store.ts";
import { HttpUpstream } from "../../../runtime/adapters/http/upstream/http-upstream.ts";
import { LocalLogSource } from "../../../runtime/adapters/machine/local/logs/local-log-source.ts";
import { NatsLink } from "../../../runtime/adapters/nats/link/nats-link.ts";
import { gatewayAdapters, natsOptions } from "../../../runtime/adapters/nats/open-nats.ts";
import { release } from "../../../runtime/api/version.ts";
import { platformInfo } from "../../../runtime/core/platform-info.ts";
import { buildGateway } from "../../../runtime/gateway/build-gateway.ts";
import { gatewaySettings } from "../../../runtime/gateway/settings.ts";
import { openAdminServer } from "../../../runtime/process/admin-server.ts";
import { buildInvocationMetrics } from "../../../runtime/process/metrics/invocation-metrics.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { runService } from "../../../runtime/process/run-service.ts";
import { faultyCallLedger, faultyCallQueue } from "../port-faults.ts";
import { plannedStart } from "./planned-start.ts";

/** A gateway whose ports fail according to a plan, its last argument. */
const { plan, settings } = plannedStart(gatewaySettings);
const log = createLog("gateway", settings.logLevel);

await runService({
  log,
  drainTimeout: () => 20_000,
  open: async (lifecycle) => {
    const admin = await openAdminServer({ ...settings, host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());
    const link = await NatsLink.open(natsOptions(settings, "faulty gateway", "_INBOX.gw"));
    lifecycle.onClose("broker", () => link.close());
    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const adapters = gatewayAdapters(link, settings);
    const gateway = buildGateway({
      settings,
      ...adapters,
      calls: faultyCallQueue(adapters.calls, plan),
      ledger: faultyCallLedger(adapters.ledger, plan),
      upstream,
      secrets: new FileSecretStore(settings.secretsDir),
      logs: new LocalLogSource(settings.logsDir),
      callbackRules: { policy: "any", allow: [], gatewayOrigins: [], closedPorts: [] },
      info: platformInfo({
        provider: "local",
        version: { release, sha: "unreleased", commit_message: "unreleased" },
        arch: process.arch,
        edition: settings.edition,
        functionNamespace: settings.functionNamespace,
        namespaceAliases: [],
        durability: "interval",
      }),
      registry: admin.registry,
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("gateway", () => gateway.close());
    const port = await gateway.open();
    log.info({ port, adminPort: admin.port, seed: plan.seed }, "gateway is ready");
    admin.ready();
  },
});
