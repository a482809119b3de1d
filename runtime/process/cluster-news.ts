import type { Log } from "./log.ts";

/** What the watches of the cluster tell, once that the API server cannot be heard and once that it is again, goes to the log. */
export function logClusterNews(log: Log) {
  return {
    onTrouble: (err: unknown) => log.warn({ err }, "watches of the API server interrupted, trying again"),
    onRecovered: () => log.info("watches of the API server are back"),
  };
}
