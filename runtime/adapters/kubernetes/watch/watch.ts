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
  /** What is kept of each object: the rest is dropped, so that it costs no memory. Must not throw. */
  readonly keep: (object: T) => K;
  /** Without a byte for so long a watch is cut. */
  readonly silence?: number;
  readonly firstDelay?: number;
  readonly longestDelay?: number;
  /** Most of a `Retry-After` that is waited: a proxy may name an hour, and the API server be back in a minute. */
  readonly longestAsked?: number;
  /** Objects in one page of a list. */
  readonly pageSize?: number;
  /**
   * Told once when the API server cannot be heard by any watch of the client, and not again before all of them hear it;
   * of each watch once when it is refused for good.
   */
  readonly onTrouble?: (err: unknown) => void;
}

type Listener<K> = (change: ObjectChange<K>) => void;

/** Milliseconds until the next try; `early`: another watch may hear sooner that the API server is back. */
interface Wait {
  readonly after: number;
  readonly early: boolean;
}

const defaults = { silence: 60_000, firstDelay: 500, longestDelay: 30_000, longestAsked: 60_000, pageSize: 250 };
/** A watch that held so long does not make the next one wait; milliseconds. */
const goodWatch = 1_000;
/** After so many refusals in a row the version itself may be what is refused. */
const mostFailures = 5;

/**
 * All objects of a kind, kept up to date from `open` to `close`: a list, then a watch that is resumed where it ended.
 * While the API server is away what was known stays, and `age` says how old it is.
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
  /** Undefined: to be listed. */
  #version: string | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  /** For good, as far as it knows: rights are missing, or the kind. */
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
    this.#options = { onTrouble: () => {}, ...defaults, ...rest };
    this.#cache = new ObjectCache(options.keep);
    this.synced = this.#sync.promise;
    // Nobody need wait for it.
    this.synced.catch(() => {});
    this.#contact.join(this);
    this.#running = this.#run(this.#closing.signal);
  }

  get kind(): string {
    return this.#kind.kind;
  }

  /** By `namespace/name`, of kinds without namespace by name. Read it anew each time: it is replaced by lists. */
  get objects(): ReadonlyMap<string, K> {
    return this.#cache.objects;
  }

  /** Milliseconds since the API server last said something about these objects; infinite before the first list. */
  get age(): number {
    return performance.now() - this.#heardAt;
  }

  /** Calls `listener` with each change from now on, in order; what it gives back ends that. What it throws is trouble. */
  listen(listener: Listener<K>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing is under way any more; what was known stays. */
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
    // A server that was not in time may be with less.
    const pageSize = Math.max(Math.ceil(this.#options.pageSize / 2 ** this.#failures), smallestPage);
    const query = { ...this.#query, pageSize: Math.min(pageSize, this.#options.pageSize) };
    const keep = (object: T) => this.#cache.keep(object);
    const options = { signal, attempts: 1, again: this.#failures > 0 };
    const { items, resourceVersion } = await listObjects(this.#client, this.#kind, query, keep, options);
    for (const change of this.#cache.replaceAll(items, resourceVersion)) this.#tell(change);
    this.#heardAt = performance.now();
    this.#contact.answered(this);
    this.#sync.resolve();
    return resourceVersion;
  }

  /** One watch; gives what to wait before the next. */
  async #watchOnce(resourceVersion: string, signal: AbortSignal): Promise<Wait> {
    let [openedAt, heard] = [Number.POSITIVE_INFINITY, false];
    let well: NodeJS.Timeout | undefined;
    const end = await runWatch(this.#client, this.#kind, this.#query, {
      resourceVersion,
      silence: this.#options.silence,
      again: this.#failures > 0,
      signal,
      opened: () => {
        openedAt = this.#heardAt = performance.now();
        this.#contact.answered(this);
        // Where nothing changes nothing else tells for most of a minute.
        well = setTimeout(() => this.#recovered(), goodWatch);
      },
      told: (event) => {
        heard = true;
        this.#recovered();
        this.#heardAt = performance.now();
        const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
        this.#advance(version ?? resourceVersion);
        const change = event.type === "BOOKMARK" ? undefined : this.#cache.apply(event);
        if (change !== undefined) this.#tell(change);
      },
    }).finally(() => clearTimeout(well));
    const isGood = performance.now() - openedAt >= goodWatch;
    if (end.kind === "ended" && !heard && isGood) await this.#checkStore(resourceVersion, signal);
    return this.#waitAfter(end, isGood);
  }

  #waitAfter(end: WatchEnd, isGood: boolean): Wait {
    if (end.kind === "failed") {
      const isRefused = end.err instanceof KubeRefusalError && this.#failures >= mostFailures;
      if (end.relist || isRefused) this.#version = undefined;
      return this.#failed(end.err);
    }
    if (end.kind === "silent") return this.#failed(new Error("nothing was heard of a watch for too long"));
    if (end.kind === "gone") this.#version = undefined;
    else this.#heardAt = performance.now();
    if (isGood) this.#recovered();
    // Many that were ended at once must not all come back at once.
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
    const isNews = isRefused ? !this.#isRefused : this.#contact.failed(this);
    this.#isRefused = isRefused;
    if (isNews) this.#options.onTrouble(err);
    const asked = Math.min(refusal?.retryAfter ?? 0, this.#options.longestAsked) * (1 + 0.1 * Math.random());
    return { after: Math.max(asked, this.#backOff()), early: asked === 0 && !isRefused };
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
   * A store that was put back to an earlier state lets a watch of a later version wait for ever; only a list tells. Where
   * anything changes at all bookmarks come, and nobody has to ask.
   */
  async #checkStore(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { namespace, ...selectors } = this.#query;
    const place = namespace === undefined ? {} : { namespace };
    const options = { signal, attempts: 1, again: this.#failures > 0 };
    const page = await this.#client.listPage(this.#kind, place, { ...selectors, limit: 1 }, options);
    const order = compareResourceVersions(page.metadata.resourceVersion ?? "", resourceVersion);
    if (order !== undefined && order < 0) this.#version = undefined;
  }

  /** Never back, where that can be known. */
  #advance(version: string): void {
    const order = this.#version === undefined ? 1 : compareResourceVersions(version, this.#version);
    if (order === undefined || order > 0) this.#version = version;
  }

  #tell(change: ObjectChange<K>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (err) {
        this.#options.onTrouble(err);
      }
    }
  }
}
