import type { KubeClient, ListQuery } from "../client/client.ts";
import type { Kind, Place } from "../client/kinds.ts";
import { isGone, KubeRefusalError, readRefusal } from "../client/kube-refusal.ts";
import { WatchDecodeError, WatchDecoder, type WatchEvent } from "./watch-decoder.ts";

/** Which objects are watched. */
export type WatchQuery = ListQuery & Pick<Place, "namespace">;

/** How one watch ended. */
export type WatchEnd =
  /** The server, or something in between, ended it: it resumes from the last version. */
  | { readonly kind: "ended" }
  /** The version has expired. */
  | { readonly kind: "gone" }
  /** No byte came for too long. */
  | { readonly kind: "silent" }
  /** `relist`: it cannot be resumed, so the objects are listed again. */
  | { readonly kind: "failed"; readonly err: unknown; readonly relist: boolean };

/** Parameters of one watch. */
export interface WatchSession {
  readonly resourceVersion: string;
  /** Milliseconds without a byte after which it is aborted. */
  readonly silence: number;
  /** Whether it follows a failed request. */
  readonly again: boolean;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the watch. */
  readonly opened: () => void;
  readonly told: (event: Exclude<WatchEvent, { readonly type: "ERROR" }>) => void;
}

/** The server ends a watch before we would abort it: without any changes it sends no bookmarks either. */
const shareOfSilence = 0.75;
/** Milliseconds until the response head of a watch: the connection may be half-open. */
const headTimeout = 15_000;

/** Runs one watch to its end. Rejects with the reason of `signal` when that aborts, and with what `told` throws. */
export async function runWatch(
  client: KubeClient,
  kind: Kind,
  { namespace, ...selectors }: WatchQuery,
  { resourceVersion, silence, again, signal, opened, told }: WatchSession,
): Promise<WatchEnd> {
  const idleAbort = new AbortController();
  const timer = setTimeout(() => idleAbort.abort(), silence);
  const seconds = Math.floor((silence * shareOfSilence * (0.9 + 0.1 * Math.random())) / 1_000);
  const query = {
    ...selectors,
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds: Math.max(1, seconds),
  };
  let inCallback = false;
  try {
    const place = namespace === undefined ? {} : { namespace };
    const options = {
      signal: AbortSignal.any([signal, idleAbort.signal]),
      timeout: Math.min(silence, headTimeout),
      attempts: 1,
      again,
    };
    const stream = await client.open(kind, place, query, options);
    opened();
    const decoder = new WatchDecoder();
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      timer.refresh();
      for (const event of decoder.push(chunk)) {
        if (event.type === "ERROR") return endOf(event.status);
        inCallback = true;
        told(event);
        inCallback = false;
      }
    }
    return { kind: "ended" };
  } catch (err) {
    signal.throwIfAborted();
    if (inCallback) throw err;
    if (idleAbort.signal.aborted) return { kind: "silent" };
    if (isGone(err)) return { kind: "gone" };
    if (err instanceof KubeRefusalError) return { kind: "failed", err, relist: isLasting(err.refusal.status) };
    return { kind: "failed", err, relist: err instanceof WatchDecodeError };
  } finally {
    clearTimeout(timer);
    idleAbort.abort();
  }
}

function endOf(status: Extract<WatchEvent, { type: "ERROR" }>["status"]): WatchEnd {
  const code = typeof status.code === "number" ? status.code : 500;
  if (code === 410 || status.reason === "Expired" || status.reason === "Gone") return { kind: "gone" };
  const err = new KubeRefusalError("continue a watch", readRefusal(code, { ...status, kind: "Status" }));
  return { kind: "failed", err, relist: true };
}

/** Whether the same request would be refused again: any status but those of overload and server errors. */
export function isLasting(status: number): boolean {
  return status < 500 && status !== 429;
}
