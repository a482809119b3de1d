import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { backOff } from "../../../core/calls/retry.ts";
import type { KubeClient } from "../client/client.ts";
import type { Kind } from "../client/kinds.ts";
import { KubeRefusalError } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { listObjects, smallestPage } from "../client/list-objects.ts";
import { ObjectCache, type ObjectChange } from "./object-cache.ts";
import { compareResourceVersions } from "./resource-version.ts";
import type { ServerContact, WatchedKind } from "../client/server-contact.ts";
import { isLasting, runWatch, type WatchEnd, type WatchQuery } from "./watch-session.ts";

/** How objects are watched; durations are milliseconds. */
export interface WatchOptions<T, K> extends WatchQuery {
  /** What is kept of each object; the rest is dropped to save memory. Must not throw. */
  readonly keep: (object: T) => K;
  /** Time without a byte after which a watch is aborted. */
  readonly silence?: number;
  readonly firstDelay?: number;
  readonly longestDelay?: number;
  /** Upper bound of a `Retry-After`: a proxy may say an hour, and the API server be back in a minute. */
  readonly longestAsked?: number;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /**
   * Called once when the first watch of the client fails, and not again before all of them have recovered; also once
   * for each watch that is refused for good.
   */
  readonly onFailure?: (err: unknown) => void;
}

type Listener<K> = (change: ObjectChange<K>) => void;

/** Milliseconds until the next attempt; `early`: shorter if another watch finds the API server available again. */
interface Wait {
  readonly after: number;
  readonly early: boolean;
}

const defaults = { silence: 60_000, firstDelay: 500, longestDelay: 30_000, longestAsked: 60_000, pageSize: 250 };
/** Milliseconds that a watch has to last for the next one to start without back-off. */
const goodWatch = 1_000;
/** After this many failures in a row, a refusal may be due to the version itself. */
const maxFailures = 5;

/**
 * All objects of a kind, kept up to date until `close`: a list, then a watch that is resumed where it ended. While the
 * API server is unavailable the known objects stay, and `age` says how old they are.
 */
export class KubeWatch<T extends KubeObject, K> implements WatchedKind {
  /** Resolves when all objects are known for the first time; rejects when it is closed before. */
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #contact: ServerContact;
  readonly #kind: Kind;
  readonly #query: WatchQuery;
  readonly #options: Required<Omit<WatchOptions<T, K>, keyof WatchQuery>>;
  readonly #cache: ObjectCache<T, K>;
  readonly #listeners = new Set<Listener<K>>();
  readonly #closing = new AbortController();
  readonly #sync = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  /** Undefined when the objects are to be listed. */
  #version: string | undefined;
  #lastContactAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  /** Refused for good, as far as is known: the rights or the kind are missing. */
  #isRefused = false;

  constructor(client: KubeClient, kind: Kind, options: WatchOptions<T, K>) {
    const { namespace, labelSelector, fieldSelector, ...rest } = options;
    this.#client = client;
    this.#contact = client.contact;
    this.#kind = kind;
    this.#query = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    this.#options = { onFailure: () => {}, ...defaults, ...rest };
    this.#cache = new ObjectCache(options.keep);
    this.synced = this.#sync.promise;
    // Callers need not await it, so its rejection must not count as unhandled.
    this.synced.catch(() => {});
    this.#contact.join(this);
    this.#running = this.#run(this.#closing.signal);
  }

  get kind(): string {
    return this.#kind.kind;
  }

  /** By `namespace/name`; by name for kinds without namespace. Do not keep the map: a list replaces it. */
  get objects(): ReadonlyMap<string, K> {
    return this.#cache.objects;
  }

  /** Milliseconds since the API server last sent something about these objects; infinite before the first list. */
  get age(): number {
    return performance.now() - this.#lastContactAt;
  }

  /**
   * Calls `listener` with each change from now on, in order; returns a function that ends this. An error that
   * `listener` throws goes to `onFailure`.
   */
  listen(listener: Listener<K>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing is in flight any more; the known objects stay. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#contact.leave(this);
    await this.#running;
    const sentence = `Cannot watch ${this.#kind.plural}: the watch was closed before they were listed`;
    this.#sync.reject(new PlatformError("provider_unavailable", sentence));
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#version ??= await this.#list(signal);
        await this.#wait(await this.#watchOnce(this.#version, signal), signal);
      } catch (err) {
        if (signal.aborted) return;
        await this.#wait(this.#failed(err), signal).catch(() => {});
      }
    }
  }

  async #wait({ after, early }: Wait, signal: AbortSignal): Promise<void> {
    await (early ? this.#contact.sleep(after, signal) : pause(after, undefined, { signal }));
  }

  async #list(signal: AbortSignal): Promise<string> {
    // A server that was too slow may manage a smaller page.
    const pageSize = Math.max(Math.ceil(this.#options.pageSize / 2 ** this.#failures), smallestPage);
    const query = { ...this.#query, pageSize: Math.min(pageSize, this.#options.pageSize) };
    const keep = (object: T) => this.#cache.keep(object);
    const options = { signal, attempts: 1, again: this.#failures > 0 };
    const { items, resourceVersion } = await listObjects(this.#client, this.#kind, query, keep, options);
    for (const change of this.#cache.replaceAll(items, resourceVersion)) this.#notify(change);
    this.#lastContactAt = performance.now();
    this.#contact.responded(this);
    this.#sync.resolve();
    return resourceVersion;
  }

  /** Runs one watch; resolves with the wait before the next. */
  async #watchOnce(resourceVersion: string, signal: AbortSignal): Promise<Wait> {
    let [openedAt, hadEvents] = [Number.POSITIVE_INFINITY, false];
    let recoveryTimer: NodeJS.Timeout | undefined;
    const end = await runWatch(this.#client, this.#kind, this.#query, {
      resourceVersion,
      silence: this.#options.silence,
      again: this.#failures > 0,
      signal,
      opened: () => {
        openedAt = this.#lastContactAt = performance.now();
        this.#contact.responded(this);
        // Without changes, no event would confirm for most of a minute that the watch works.
        recoveryTimer = setTimeout(() => this.#recovered(), goodWatch);
      },
      told: (event) => {
        hadEvents = true;
        this.#recovered();
        this.#lastContactAt = performance.now();
        const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
        this.#advance(version ?? resourceVersion);
        const change = event.type === "BOOKMARK" ? undefined : this.#cache.apply(event);
        if (change !== undefined) this.#notify(change);
      },
    }).finally(() => clearTimeout(recoveryTimer));
    const isGood = performance.now() - openedAt >= goodWatch;
    if (end.kind === "ended" && !hadEvents && isGood) await this.#checkStore(resourceVersion, signal);
    return this.#waitAfter(end, isGood);
  }

  #waitAfter(end: WatchEnd, isGood: boolean): Wait {
    if (end.kind === "failed") {
      const isRefused = end.err instanceof KubeRefusalError && this.#failures >= maxFailures;
      if (end.relist || isRefused) this.#version = undefined;
      return this.#failed(end.err);
    }
    if (end.kind === "silent") return this.#failed(new Error("a watch received nothing for too long"));
    if (end.kind === "gone") this.#version = undefined;
    else this.#lastContactAt = performance.now();
    if (isGood) this.#recovered();
    // Jitter: watches that ended at the same time must not all return at once.
    if (isGood || (end.kind === "gone" && this.#failures === 0)) {
      this.#failures = isGood ? 0 : 1;
      return { after: (this.#options.firstDelay / 2) * Math.random(), early: false };
    }
    this.#failures += 1;
    return { after: this.#backOff(), early: true };
  }

  #failed(err: unknown): Wait {
    this.#failures += 1;
    const refusal = err instanceof KubeRefusalError ? err.refusal : undefined;
    const isRefused = refusal !== undefined && isLasting(refusal.status);
    const isToReport = isRefused ? !this.#isRefused : this.#contact.failed(this);
    this.#isRefused = isRefused;
    if (isToReport) this.#options.onFailure(err);
    const requestedDelay = Math.min(refusal?.retryAfter ?? 0, this.#options.longestAsked) * (1 + 0.1 * Math.random());
    return { after: Math.max(requestedDelay, this.#backOff()), early: requestedDelay === 0 && !isRefused };
  }

  #recovered(): void {
    this.#failures = 0;
    this.#isRefused = false;
    this.#contact.recovered(this);
  }

  #backOff(): number {
    return backOff(this.#options.firstDelay, this.#options.longestDelay, this.#failures - 1);
  }

  /**
   * After the store was restored to an earlier state, a watch from a later version waits indefinitely, and only a list
   * shows it. Watches that got events need no check: where anything changes at all, bookmarks come.
   */
  async #checkStore(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { namespace, ...selectors } = this.#query;
    const place = namespace === undefined ? {} : { namespace };
    const options = { signal, attempts: 1, again: this.#failures > 0 };
    const page = await this.#client.listPage(this.#kind, place, { ...selectors, limit: 1 }, options);
    const order = compareResourceVersions(page.metadata.resourceVersion ?? "", resourceVersion);
    if (order !== undefined && order < 0) this.#version = undefined;
  }

  /** Never goes back, as far as the order of versions is known. */
  #advance(version: string): void {
    const order = this.#version === undefined ? 1 : compareResourceVersions(version, this.#version);
    if (order === undefined || order > 0) this.#version = version;
  }

  #notify(change: ObjectChange<K>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (err) {
        this.#options.onFailure(err);
      }
    }
  }
}
