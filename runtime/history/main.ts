import { openLogs } from "../adapters/kubernetes/logs/open-logs.ts";
import { historyAdapters } from "../adapters/nats/history/history-adapters.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { natsOptions } from "../adapters/nats/open-nats.ts";
import { openPostgresStores } from "../adapters/postgres/open-postgres-stores.ts";
import { openSqliteStores } from "../adapters/sqlite/open-sqlite-stores.ts";
import { release } from "../api/version.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { start, type ServiceParts } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { openHistoryApi } from "./api/open-history-api.ts";
import { buildHistory } from "./build-history.ts";
import { obeyCommand } from "./commands/obey-command.ts";
import { buildHistoryMetrics } from "./history-metrics.ts";
import { logKeeping } from "./logs/log-keeping.ts";
import { openStores } from "./open-stores.ts";
import { restartToRebuild } from "./rebuild/restart-to-rebuild.ts";
import { apiListener, historyCommands, historyLimits, historySettings, logLimits } from "./settings.ts";
import { stopWithInput } from "./stop-with-input.ts";

const { settings, log, run } = start({
  name: "history",
  about: "Keeps the history of the calls of Weir.",
  version: release,
  settings: { ...historySettings, ...historyCommands },
  rules: [brokerUserRule, passwordFileRule],
});
const inbox = "_INBOX.hs";
const stopNow = (): void => void process.kill(process.pid, "SIGTERM");
const openers = { files: openSqliteStores, database: openPostgresStores };
const openIn = (lifecycle: Lifecycle) => openStores({ lifecycle, settings, openers, log, stopNow });
function connect(lifecycle: Lifecycle) {
  const link = NatsLink.begin(natsOptions(settings, "history", inbox));
  lifecycle.onClose("broker", () => link.close());
  return { state: link.state, ...historyAdapters(link, inbox, settings.natsMonitorUrl) };
}

async function open(parts: ServiceParts): Promise<void> {
  const { lifecycle, admin, stop } = parts;
  if (settings.stopWithInput) stopWithInput(process.stdin, stopNow);
  const stores = await openIn(lifecycle);
  const broker = connect(lifecycle);
  const metrics = buildHistoryMetrics(admin.registry);
  const leases = stores.leases(broker.leases);
  const followed = holdCluster(parts, await openLogs(settings, logClusterState(log)), "followed logs");
  const facts = { ...broker, ...historyLimits(settings), ...logLimits(settings), ...followed.facts };
  const keepLogs = stores.logs && logKeeping({ ...facts, writer: stores.logs.writer, followed, metrics, log });
  const history = buildHistory({ ...facts, ...stores, leases, keepLogs, metrics, log });
  followBroker(parts, [broker.state], () => history.problem);
  const requestRebuild = restartToRebuild(stores.requestRebuild, stopNow);
  const api = await openHistoryApi({ ...stores, ...history, requestRebuild, metrics, ...apiListener(settings) });
  lifecycle.onClose("api", () => api.close());
  const running = history.run(stop);
  lifecycle.onClose("history", () => running);
}

await obeyCommand({ settings, openIn, connect, log, serve: () => run({ drainTimeout: 10_000, open }) });
