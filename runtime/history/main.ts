import { openMachineLogs } from "../adapters/machine/machine-logs.ts";
import { historyAdapters } from "../adapters/nats/history/history-adapters.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { natsOptions } from "../adapters/nats/open-nats.ts";
import { openSqliteStores } from "../adapters/sqlite/open-sqlite-stores.ts";
import { release } from "../api/version.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { start, type ServiceParts } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { openHistoryApi } from "./api/open-history-api.ts";
import { buildHistory } from "./build-history.ts";
import { leasesOf } from "./held-lease.ts";
import { buildHistoryMetrics } from "./history-metrics.ts";
import { holdDirectory } from "./hold-directory.ts";
import { logKeeping } from "./logs/log-keeping.ts";
import { noteLostFile } from "./note-lost-file.ts";
import { apiPlace, historyLimits, historySettings, loggedMachine, logLimits } from "./settings.ts";
import { stopWithInput } from "./stop-with-input.ts";

const { settings, log, run } = start({
  name: "history",
  about: "Keeps the history of the calls of Weir.",
  version: release,
  settings: historySettings,
  rules: [brokerUserRule, passwordFileRule],
});
const inbox = "_INBOX.hs";
const stopNow = (): void => void process.kill(process.pid, "SIGTERM");

async function open(parts: ServiceParts): Promise<void> {
  const { lifecycle, admin, stop } = parts;
  if (settings.stopWithInput) stopWithInput(process.stdin, stopNow);
  await holdDirectory(settings.historyDir, lifecycle);
  const onDamaged = (reason: string) => (log.error({ reason }, "starting anew"), stopNow());
  const { reads, writer, logs, close } = await openSqliteStores(settings.historyDir, { onDamaged, ...settings });
  lifecycle.onClose("stores", close);
  if (writer.movedAside !== undefined) {
    log.warn({ reason: writer.movedAside }, "the history begins anew");
    await noteLostFile(writer, settings.historyAge);
  }
  const link = NatsLink.begin(natsOptions(settings, "history", inbox));
  lifecycle.onClose("broker", () => link.close());
  const metrics = buildHistoryMetrics(admin.registry);
  const broker = historyAdapters(link, inbox, settings.natsMonitorUrl);
  // A file has one process: the next one may go on at once.
  const leases = leasesOf(broker.leases, "file");
  const followed = await openMachineLogs(loggedMachine(settings));
  lifecycle.onClose("followed logs", () => followed.close());
  const limits = { ...historyLimits(settings), ...logLimits(settings) };
  const keepLogs = logs && logKeeping({ ...broker, ...limits, writer: logs.writer, followed, metrics, log });
  const history = buildHistory({ ...broker, leases, reads, writer, ...limits, keepLogs, metrics, log });
  followBroker(parts, [link.state], () => history.problem);
  const api = await openHistoryApi({ reads, ...history, logs, metrics, place: apiPlace(settings) });
  lifecycle.onClose("api", () => api.close());
  const running = history.run(stop);
  lifecycle.onClose("history", () => running);
}

await run({ drainTimeout: 10_000, open });
