import { providerNames } from "../api/machine-providers.ts";
import { clusterSettings } from "../settings/cluster-settings.ts";
import { historyBoundSettings, keptLogSettings, logFollowSettings } from "../settings/history-settings.ts";
import {
  brokerSettings,
  credentialSettings,
  leaseSettings,
  monitorSettings,
  platformSettings,
  processSettings,
} from "../settings/platform-settings.ts";
import { choice, flag, optionalText, optionalWhole, text, type Values } from "../settings/setting.ts";

/** Everything the history process reads. */
export const historySettings = {
  ...processSettings,
  ...brokerSettings,
  ...monitorSettings,
  ...leaseSettings,
  ...historyBoundSettings,
  ...keptLogSettings,
  ...logFollowSettings,
  edition: platformSettings.edition,
  platformNamespace: platformSettings.platformNamespace,
  functionNamespace: platformSettings.functionNamespace,
  kubernetesHost: clusterSettings.kubernetesHost,
  kubernetesPort: clusterSettings.kubernetesPort,
  serviceAccountDir: clusterSettings.serviceAccountDir,
  secretMountPath: credentialSettings.secretMountPath,
  historyDir: text("history_dir", {
    fallback: ".weir/history",
    about: "Directory of the history's files, and of its socket if history_port is not set",
  }),
  historyPort: optionalWhole("history_port", {
    min: 1,
    max: 65_535,
    about:
      "Port of the history for gateways, which need the key in the file history-key of secret_mount_path; when absent, it listens on a socket in history_dir",
  }),
  historyHost: text("history_host", { fallback: "127.0.0.1", about: "Address that history_port listens on" }),
  logProvider: choice("log_provider", ["none", ...providerNames, "kubernetes"], {
    fallback: "none",
    about: "Provider whose functions' logs are followed; none = no log is",
  }),
  logData: text("log_data", { fallback: ".weir", about: "Data directory of log_provider local or docker" }),
  logEngine: optionalText("log_engine", { about: "Address of the container engine of log_provider docker" }),
  stopWithInput: flag("stop_with_input", {
    fallback: "false",
    about: "Whether the process stops when its standard input ends, as it does when the host that started it is killed",
  }),
};

/** What the process does in place of serving, or before it. */
export const historyCommands = {
  rebuild: flag("rebuild", {
    fallback: "false",
    about:
      "Whether the file of the calls is filled anew, beside the one that answers meanwhile; by the process that runs",
  }),
  erase: optionalText("erase", {
    about:
      "function=NAME or function=NAME.NAMESPACE: removes its ended calls, log lines and kept requests, says how many, and ends",
  }),
};

export type HistorySettings = Values<typeof historySettings>;
export type HistoryCommands = Values<typeof historyCommands>;

/** What is kept of logs at most. */
export function logLimits({ keptLogAge, keptLogBytes, keptLogFunctionBytes, functionNamespace }: HistorySettings) {
  const logBounds = { age: keptLogAge, bytes: keptLogBytes, functionBytes: keptLogFunctionBytes };
  return { logBounds, defaultNamespace: functionNamespace };
}

/** What the history keeps at most, and the time after which another process may write it. */
export function historyLimits({
  historyAge: age,
  historyCallsMax: calls,
  historyBytes: bytes,
  leaseTtl,
}: HistorySettings) {
  return { bounds: { age, calls, bytes }, leaseTtl };
}

/** How gateways are listened to. */
export function apiListener(settings: HistorySettings) {
  return { place: apiPlace(settings), headersTimeout: settings.headersTimeout };
}

/** Where gateways ask. */
export function apiPlace({
  historyPort: port,
  historyHost: host,
  historyDir: directory,
  secretMountPath: keyDirectory,
  allowedHosts,
}: Pick<HistorySettings, "historyPort" | "historyHost" | "historyDir" | "secretMountPath" | "allowedHosts">) {
  return port === undefined ? { directory } : { host, port, keyDirectory, allowedHosts };
}
