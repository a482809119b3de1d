import type { Log } from "./log.ts";
import type { ServiceParts } from "./start.ts";
import { registerWatchAge, type Watched } from "./watch-age.ts";

/** A connection to the API server, and its watches if it has any. */
export interface ClusterConnection {
  readonly watched?: () => Iterable<Watched>;
  readonly close: () => Promise<void>;
}

/**
 * Closes a cluster connection with its process, as step `name`, and adds the time since the API server last sent
 * something to its metrics.
 */
export function holdCluster<C extends ClusterConnection>(
  { lifecycle, admin }: Pick<ServiceParts, "lifecycle" | "admin">,
  { watched, close, ...parts }: C,
  name = "API server",
): Omit<C, keyof ClusterConnection> {
  lifecycle.onClose(name, close);
  if (watched !== undefined) registerWatchAge(admin.registry, watched);
  return parts;
}

/** Logs once when the watches of the API server are interrupted, and once when they are back. */
export function logClusterState(log: Log) {
  return {
    onFailure: (err: unknown) => log.warn({ err }, "watches of the API server interrupted, trying again"),
    onRecovered: () => log.info("watches of the API server are back"),
  };
}
