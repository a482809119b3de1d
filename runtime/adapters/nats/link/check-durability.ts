import type { DurabilityProfile } from "../../../api/durability-profile.ts";
import { PlatformError } from "../../../api/platform-error.ts";

const answerTimeout = 5_000;
const longestInterval = 100_000_000;

/** What a server says of how it stores, of its monitoring's `/jsz`. */
interface StoreConfig {
  readonly sync_always?: boolean;
  /** Nanoseconds. */
  readonly sync_interval?: number;
}

/**
 * Compares what is promised with how the servers with these addresses of monitoring store. One that does not answer is
 * left out: others do its work.
 * @throws PlatformError `queue_unavailable` when one stores less surely than that, or none can be asked
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
      signal: AbortSignal.timeout(answerTimeout),
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
