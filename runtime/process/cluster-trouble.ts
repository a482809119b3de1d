import type { Log } from "./log.ts";

/** Says that the API server of the cluster cannot be heard: what its watches tell of their trouble. */
export function sayClusterTrouble(log: Log): (err: unknown) => void {
  return (err) => log.warn({ err }, "the API server cannot be heard, trying again");
}
