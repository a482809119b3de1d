import type { DurabilityProfile } from "../../../api/durability-profile.ts";
import { PlatformError } from "../../../api/platform-error.ts";

const replyTimeout = 5_000;
const longestInterval = 100_000_000;

/** How a server stores, from `/jsz` of its monitoring. */
interface StoreConfig {
  readonly sync_always?: boolean;
  /** Nanoseconds. */
  readonly sync_interval?: number;
}

/**
 * Compares the promised durability with how the servers at these monitoring addresses store. A server that does not
 * reply is skipped: others do its work.
 * @throws PlatformError `queue_unavailable` when a server stores less durably than promised, or none can be reached
 */
export async function checkDurability(wanted: DurabilityProfile, monitorUrls: readonly string[]): Promise<void> {
  const read = await Promise.allSettled(monitorUrls.map(readConfig));
  const [failed] = read.filter((each) => each.status === "rejected");
  if (failed !== undefined && read.every(({ status }) => status === "rejected")) throw failed.reason;
  for (const each of read) if (each.status === "fulfilled") check(wanted, each.value);
}

function check(wanted: DurabilityProfile, { sync_always: always = false, sync_interval: interval }: StoreConfig): void {
  if (always || (wanted === "interval" && interval !== undefined && interval <= longestInterval)) return;
  const has = `it writes to disk every ${interval === undefined ? "now and then" : `${interval / 1e9} s`}`;
  const needed = wanted === "interval" ? '"100ms" or less' : '"always"';
  throw new PlatformError(
    "queue_unavailable",
    `Cannot promise durability "${wanted}": ${has}; set its sync_interval to ${needed}, or ask for less`,
  );
}

async function readConfig(monitorUrl: string): Promise<StoreConfig> {
  try {
    const response = await fetch(new URL("/jsz?config=1", monitorUrl), {
      signal: AbortSignal.timeout(replyTimeout),
      headers: { connection: "close" },
    });
    const { config = {} }: { readonly config?: StoreConfig } = JSON.parse(await response.text());
    return config;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformError("queue_unavailable", `Cannot ask the broker at "${monitorUrl}" how it stores: ${why}`, {
      cause,
      retryAfterSeconds: 1,
    });
  }
}
