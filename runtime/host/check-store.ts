import { PlatformError } from "../api/platform-error.ts";
import { storeText } from "./banner.ts";
import { storeProblems } from "./settings.ts";

/** Fewer calls at a time do not make a queue: records are kept for minutes after their calls end. */
const fewestCalls = 1_000;

/**
 * Refuses a store that is too small. `wanted` are the settings that, besides the disk, determine its size.
 * @throws PlatformError `queue_unavailable` with the available and the needed size
 */
export function checkStore(
  store: { readonly bytes: number; readonly calls: number },
  directory: string,
  wanted: { readonly asyncMaxBody: number; readonly maxCallRecords: number },
): void {
  const [problem] = storeProblems({ ...wanted, maxFileStore: store.bytes });
  const needed = Math.min(fewestCalls, wanted.maxCallRecords);
  const few = store.calls < needed;
  if (problem === undefined && !few) return;
  const reason = few ? `${needed} are needed` : `calls of ${wanted.asyncMaxBody} bytes (async_max_body) need more`;
  throw new PlatformError(
    "queue_unavailable",
    `Cannot start nats-server in "${directory}": its store is ${storeText(store)}, and ${reason}; make room on that disk or choose another with --data`,
  );
}
