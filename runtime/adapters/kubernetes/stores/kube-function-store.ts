import { PlatformError } from "../../../api/platform-error.ts";
import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FunctionObserver, FunctionStore, FunctionListing } from "../../../core/ports/function-store.ts";
import type { KubeClient } from "../client/client.ts";
import { isThere, type FunctionWatch, type CachedFunction } from "./cached-function.ts";
import type { KubeOptions } from "../client/kube-requests.ts";
import { kinds } from "../client/kinds.ts";
import { isConflict, isNamespaceMissing, isNotFound } from "../client/kube-refusal.ts";
import { listObjects } from "../client/list-objects.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import { desiredOf, functionObjectOf } from "../manifests/function-object.ts";
import { placeOfKey } from "../watch/object-cache.ts";
import { writeScale } from "./write-scale.ts";
import { retryOnConflict } from "../client/write-object.ts";

/** What the writing account may change: the whole Function; its replicas and the reason; its replicas only. */
export type FunctionRights = "whole" | "scale-and-status" | "scale";

/** Milliseconds that a list may take where an older one is known. */
const longestList = 4_500;

/** Desired functions as Function objects, whoever wrote them. An unchanged function is not written. */
export class KubeFunctionStore implements FunctionStore {
  readonly #client: KubeClient;
  readonly #watch: FunctionWatch;
  readonly #rights: FunctionRights;
  #isSynced = false;

  constructor(client: KubeClient, watch: FunctionWatch, rights: FunctionRights) {
    this.#client = client;
    this.#watch = watch;
    this.#rights = rights;
    watch.synced.then(
      () => (this.#isSynced = true),
      () => {},
    );
  }

  async get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    const found = await this.#find(ref);
    return found && desiredOf(found);
  }

  /** While the API server is away or late, what the watch knew last. */
  async list(namespace: string): Promise<FunctionListing> {
    if (this.#isSynced && this.#client.contact.isFailing) return this.#known(namespace);
    const keep = (object: FunctionObject) => (isThere(object) ? desiredOf(object) : undefined);
    const options = this.#isSynced ? { signal: AbortSignal.timeout(longestList) } : {};
    try {
      const { items } = await listObjects(this.#client, kinds.function, { namespace }, keep, options);
      return byName(items);
    } catch (err) {
      if (!this.#isSynced || !isAway(err)) throw err;
      return this.#known(namespace);
    }
  }

  write(ref: FunctionRef, change: (current: DesiredFunction | undefined) => DesiredFunction): Promise<DesiredFunction> {
    return retryOnConflict(`write function "${ref.name}" of namespace "${ref.namespace}"`, async (options) => {
      const current = await this.#find(ref, options);
      const before = current && desiredOf(current);
      const wanted = change(before);
      if (current === undefined) return this.#create(ref, wanted);
      if (before !== undefined && contentHash(wanted) === contentHash(before)) return before;
      if (this.#rights !== "whole") {
        return writeScale(this.#client, current, wanted, { reason: this.#rights === "scale-and-status" });
      }
      const written = functionObjectOf(wanted, current);
      return desiredOf(await this.#client.replace<FunctionObject>(kinds.function, written, placeOf(ref)));
    });
  }

  async remove(ref: FunctionRef): Promise<boolean> {
    const found = await this.#find(ref);
    if (found?.metadata.uid === undefined) return false;
    try {
      const query = { uid: found.metadata.uid, propagation: "Background" } as const;
      await this.#client.delete(kinds.function, placeOf(ref), query);
      return true;
    } catch (err) {
      // Gone, or replaced meanwhile.
      if (isNotFound(err) || isConflict(err)) return false;
      throw err;
    }
  }

  async watch(observer: FunctionObserver): Promise<() => void> {
    await this.#watch.synced;
    const end = this.#watch.listen(({ key, before, after }) => {
      const isAnother = before?.uid !== after?.uid;
      if (before?.desired !== undefined && (isAnother || after?.desired === undefined))
        observer.removed(placeOfKey(key));
      if (after?.desired !== undefined && (isAnother || !isEqual(before, after))) observer.set(after.desired);
    });
    for (const [, { desired }] of this.#watch.entries()) if (desired !== undefined) observer.set(desired);
    observer.synced();
    return end;
  }

  #known(namespace: string): FunctionListing {
    const known = [...this.#watch.entries()].filter(([key]) => placeOfKey(key).namespace === namespace);
    return Object.assign(byName(known.map(([, { desired }]) => desired)), { staleFor: this.#watch.age });
  }

  async #create({ namespace }: FunctionRef, wanted: DesiredFunction): Promise<DesiredFunction> {
    try {
      return desiredOf(await this.#client.create<FunctionObject>(kinds.function, functionObjectOf(wanted)));
    } catch (err) {
      if (!isNamespaceMissing(err)) throw err;
      const sentence = `Cannot create function "${wanted.name}": namespace "${namespace}" does not exist`;
      throw new PlatformError("namespace_not_found", sentence, { cause: err });
    }
  }

  async #find(ref: FunctionRef, options?: KubeOptions): Promise<FunctionObject | undefined> {
    const found = await this.#client.find<FunctionObject>(kinds.function, placeOf(ref), options);
    return found !== undefined && isThere(found) ? found : undefined;
  }
}

function byName(functions: readonly (DesiredFunction | undefined)[]): DesiredFunction[] {
  return functions.filter((each) => each !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function isAway(err: unknown): boolean {
  if (err instanceof PlatformError) return err.code === "provider_unavailable";
  return err instanceof DOMException && err.name === "TimeoutError";
}

/** A FunctionRef may be an object with more fields, which must not get into the place. */
function placeOf({ namespace, name }: FunctionRef): FunctionRef {
  return { namespace, name };
}

function isEqual(a: CachedFunction | undefined, b: CachedFunction): boolean {
  return a?.desired !== undefined && contentHash(a.desired) === contentHash(b.desired);
}
