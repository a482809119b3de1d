import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { Endpoints, EndpointsObserver } from "../../../core/ports/endpoints.ts";
import type { EndpointSlice, SliceAddresses } from "./endpoint-addresses.ts";
import type { FunctionWatch } from "./kept-function.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { NamespacedWatch } from "../watch/namespaced-watch.ts";
import { placeOfKey } from "../watch/object-cache.ts";

/** EndpointSlices, as their watch keeps them. */
export type SliceWatch = NamespacedWatch<EndpointSlice, SliceAddresses>;

/**
 * Ready pods of functions by their EndpointSlices, and what the operator says of them in their Function objects: of one
 * of which it has said nothing yet nothing is told.
 */
export class KubeEndpoints implements Endpoints {
  readonly #functions: FunctionWatch;
  readonly #slices: SliceWatch;

  constructor(functions: FunctionWatch, slices: SliceWatch) {
    this.#functions = functions;
    this.#slices = slices;
  }

  async watch(observer: EndpointsObserver): Promise<() => void> {
    await Promise.all([this.#functions.synced, this.#slices.synced]);
    const addresses = new AddressesOfFunctions();
    const told = new Map<string, string>();
    const tell = ({ namespace, name }: FunctionRef): void => {
      const ref = { namespace, name };
      const said = this.#functions.find(namespace, name)?.said;
      const now = said && { ...said, addresses: addresses.of(ref) };
      const [key, before] = [formatRef(ref), told.get(formatRef(ref))];
      const hash = now && contentHash(now);
      if (hash === before) return;
      if (now === undefined || hash === undefined) {
        told.delete(key);
        observer.removed(ref);
      } else {
        told.set(key, hash);
        observer.set(now);
      }
    };
    const ends = [
      this.#slices.listen(({ key, after }) => {
        for (const ref of addresses.change(key, after)) tell(ref);
      }),
      this.#functions.listen(({ key, before, after }) => {
        const ref = placeOfKey(key);
        if (before !== undefined && before.uid !== after?.uid && told.delete(formatRef(ref))) observer.removed(ref);
        tell(ref);
      }),
    ];
    for (const [key, slice] of this.#slices.entries()) addresses.change(key, slice);
    for (const [key] of this.#functions.entries()) tell(placeOfKey(key));
    observer.synced();
    return () => {
      for (const end of ends) end();
    };
  }
}

/** Adds up the slices of each function: a Service with many pods has several. */
class AddressesOfFunctions {
  readonly #functionOf = new Map<string, FunctionRef>();
  readonly #slices = new Map<string, Map<string, readonly string[]>>();

  /** Takes what a slice holds now, by its `namespace/name`, and names the functions that this may concern. */
  change(key: string, slice: SliceAddresses | undefined): readonly FunctionRef[] {
    const before = this.#functionOf.get(key);
    if (before !== undefined) this.#forget(before, key);
    this.#functionOf.delete(key);
    if (slice?.function === undefined) return before === undefined ? [] : [before];
    const ref = { ...placeOfKey(key), name: slice.function };
    this.#functionOf.set(key, ref);
    const slices = this.#slices.get(formatRef(ref)) ?? new Map<string, readonly string[]>();
    slices.set(key, slice.addresses);
    this.#slices.set(formatRef(ref), slices);
    return before === undefined || before.name === ref.name ? [ref] : [before, ref];
  }

  /** Each address once: slices overlap while the control plane moves pods between them. */
  of(ref: FunctionRef): readonly string[] {
    return [...new Set([...(this.#slices.get(formatRef(ref))?.values() ?? [])].flat())];
  }

  #forget(ref: FunctionRef, slice: string): void {
    const slices = this.#slices.get(formatRef(ref));
    slices?.delete(slice);
    if (slices?.size === 0) this.#slices.delete(formatRef(ref));
  }
}
