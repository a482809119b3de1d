import type { KubeClient, ListQuery } from "../client/client.ts";
import type { Kind, Place } from "../client/kinds.ts";
import { isGone, KubeRefusalError, readRefusal } from "../client/kube-refusal.ts";
import { WatchDecodeError, WatchDecoder, type WatchEvent } from "./watch-decoder.ts";

/** Which objects are watched. */
export type WatchQuery = ListQuery & Pick<Place, "namespace">;

/** How one watch came to its end. */
export type WatchEnd =
  /** The server, or something between, ended it: it goes on from the last version. */
  | { readonly kind: "ended" }
  /** The version is not known any more. */
  | { readonly kind: "gone" }
  /** Nothing was heard for too long. */
  | { readonly kind: "silent" }
  /** `relist`: what it was asked, or what it told, makes no sense from here on. */
  | { readonly kind: "failed"; readonly err: unknown; readonly relist: boolean };

/** One watch. */
export interface WatchSession {
  readonly resourceVersion: string;
  /** Milliseconds without a byte after which it is cut. */
  readonly silence: number;
  /** Whether it follows a failed request. */
  readonly again: boolean;
  readonly signal: AbortSignal;
  /** Called when the server has said yes. */
  readonly opened: () => void;
  readonly told: (event: Exclude<WatchEvent, { readonly type: "ERROR" }>) => void;
}

/** The server ends a watch before it would be cut: where nothing happens at all there are no bookmarks either. */
const shareOfSilence = 0.75;
/** Milliseconds until the head of a watch is there: the connection may be one that only we think is open. */
const mostForHead = 15_000;

/** Watches until it ends in whatever way. Rejects with the reason of `signal` when that aborts, and with what `told` throws. */
export async function runWatch(
  client: KubeClient,
  kind: Kind,
  { namespace, ...selectors }: WatchQuery,
  { resourceVersion, silence, again, signal, opened, told }: WatchSession,
): Promise<WatchEnd> {
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(), silence);
  const seconds = Math.floor((silence * shareOfSilence * (0.9 + 0.1 * Math.random())) / 1_000);
  const query = {
    ...selectors,
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds: Math.max(1, seconds),
  };
  let telling = false;
  try {
    const place = namespace === undefined ? {} : { namespace };
    const options = {
      signal: AbortSignal.any([signal, cut.signal]),
      timeout: Math.min(silence, mostForHead),
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
        telling = true;
        told(event);
        telling = false;
      }
    }
    return { kind: "ended" };
  } catch (err) {
    signal.throwIfAborted();
    if (telling) throw err;
    if (cut.signal.aborted) return { kind: "silent" };
    if (isGone(err)) return { kind: "gone" };
    if (err instanceof KubeRefusalError) return { kind: "failed", err, relist: isLasting(err.refusal.status) };
    return { kind: "failed", err, relist: err instanceof WatchDecodeError };
  } finally {
    clearTimeout(timer);
    cut.abort();
  }
}

function endOf(status: Extract<WatchEvent, { type: "ERROR" }>["status"]): WatchEnd {
  const code = typeof status.code === "number" ? status.code : 500;
  if (code === 410 || status.reason === "Expired" || status.reason === "Gone") return { kind: "gone" };
  const err = new KubeRefusalError("go on with a watch", readRefusal(code, { ...status, kind: "Status" }));
  return { kind: "failed", err, relist: true };
}

/** Whether the same request will be refused again: anything but overload and a server that is not well. */
export function isLasting(status: number): boolean {
  return status < 500 && status !== 429;
}
