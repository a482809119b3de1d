import type { ProviderName } from "../../../api/machine-providers.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LoggedFunctions } from "../../../core/ports/logged-functions.ts";
import type { LogSource } from "../../../core/ports/log-source.ts";
import type { NamespaceStore } from "../../../core/ports/namespace-store.ts";
import { openMachineLogs } from "../../machine/machine-logs.ts";
import type { ClusterAccess, ClusterListener, HistoryClusterSettings } from "../open-kubernetes.ts";

/** Whose logs are followed, and how. */
export interface LogSettings extends ClusterAccess, HistoryClusterSettings {
  readonly logProvider: ProviderName | "kubernetes" | "none";
  readonly logData: string;
  readonly logEngine: string | undefined;
}

/** The logs of functions, for a process that keeps their lines. */
export interface OpenedLogs {
  readonly source: LogSource;
  readonly functions: LoggedFunctions;
  /** To be told of functions that were called at a time, Unix milliseconds. Absent: it makes no difference. */
  readonly called?: (ref: FunctionRef, at: number) => void;
  /** What knows the namespaces in place of the broker. */
  readonly facts?: { readonly namespaces: Pick<NamespaceStore, "list"> | undefined };
  /** The watches of the API server. */
  readonly watched?: () => Iterable<{ readonly kind: string; readonly age: number }>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the logs of the functions of a provider.
 * @throws PlatformError `provider_unavailable` when the service account is not mounted
 */
export async function openLogs(settings: LogSettings, news: ClusterListener): Promise<OpenedLogs> {
  const { logProvider: provider, logData: data, logEngine: engine } = settings;
  if (provider !== "kubernetes") return await openMachineLogs({ provider, data, engine });
  // On one machine, where memory counts, nothing of this is loaded.
  const { clusterConfig, historyCluster } = await import("../open-kubernetes.ts");
  return historyCluster(await clusterConfig(settings), settings, news);
}
