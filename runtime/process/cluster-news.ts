import type { Log } from "./log.ts";

/** What to do when the API server of the cluster cannot be heard, and when it can be again. */
export interface ClusterNews {
  readonly onTrouble: (err: unknown) => void;
  readonly onRecovered: () => void;
}

/** Logs what the watches of the cluster tell of their trouble. */
export function logClusterNews(log: Log): ClusterNews {
  return {
    onTrouble: (err) => log.warn({ err }, "watches of the API server interrupted, trying again"),
    onRecovered: () => log.info("watches of the API server are back"),
  };
}
