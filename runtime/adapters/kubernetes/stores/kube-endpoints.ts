import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { Endpoints, EndpointsObserver, FunctionEndpoints } from "../../../core/ports/endpoints.ts";
import type { EndpointSlice, SliceAddresses } from "./endpoint-addresses.ts";
import type { FunctionWatch } from "./cached-function.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { NamespacedWatch } from "../watch/namespaced-watch.ts";
import { placeOfKey } from "../watch/object-cache.ts";

/** EndpointSlices, as their watch keeps them. */
export type SliceWatch = NamespacedWatch<EndpointSlice, SliceAddresses>;

/**
 * Endpoints of functions: ready pods from EndpointSlices, and what the operator reports in the Function objects. A
 * function without such a report is not announced yet.
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
    const announced = new Map<string, string>();
    const announce = ({ namespace, name }: FunctionRef): void => {
      const ref = { namespace, name };
      const report = this.#functions.find(namespace, name)?.reported;
      const now = report && { ...report, ...addresses.of(ref) };
      const [key, before] = [formatRef(ref), announced.get(formatRef(ref))];
      const hash = now && contentHash(now);
      if (hash === before) return;
      if (now === undefined || hash === undefined) {
        announced.delete(key);
        observer.removed(ref);
      } else {
        announced.set(key, hash);
        observer.set(now);
      }
    };
    const ends = [
      this.#slices.listen(({ key, after }) => {
        for (const ref of addresses.change(key, after)) announce(ref);
      }),
      this.#functions.listen(({ key, before, after }) => {
        const ref = placeOfKey(key);
        if (before !== undefined && before.uid !== after?.uid && announced.delete(formatRef(ref)))
          observer.removed(ref);
        announce(ref);
      }),
    ];
    for (const [key, slice] of this.#slices.entries()) addresses.change(key, slice);
    for (const [key] of this.#functions.entries()) announce(placeOfKey(key));
    observer.synced();
    return () => {
      for (const end of ends) end();
    };
  }
}

/** Adds up the slices of each function: a Service with many pods has several. */
class AddressesOfFunctions {
  readonly #functionOf = new Map<string, FunctionRef>();
  readonly #slices = new Map<string, Map<string, SliceAddresses>>();

  /** Stores what a slice holds now, by its `namespace/name`; returns the functions that this may affect. */
  change(key: string, slice: SliceAddresses | undefined): readonly FunctionRef[] {
    const before = this.#functionOf.get(key);
    if (before !== undefined) this.#drop(before, key);
    this.#functionOf.delete(key);
    if (slice?.function === undefined) return before === undefined ? [] : [before];
    const ref = { ...placeOfKey(key), name: slice.function };
    this.#functionOf.set(key, ref);
    const slices = this.#slices.get(formatRef(ref)) ?? new Map<string, SliceAddresses>();
    slices.set(key, slice);
    this.#slices.set(formatRef(ref), slices);
    return before === undefined || before.name === ref.name ? [ref] : [before, ref];
  }

  /** Each address once: slices overlap while the control plane moves pods between them. */
  of(ref: FunctionRef): Pick<FunctionEndpoints, "addresses" | "names" | "others"> {
    const slices = [...(this.#slices.get(formatRef(ref))?.values() ?? [])];
    const pods = new Map(slices.flatMap((slice) => [...slice.pods]));
    const named = [...pods].filter((pod): pod is [string, string] => pod[1] !== undefined);
    const others = slices.flatMap((slice) => slice.others);
    const places = { addresses: [...pods.keys()], names: Object.fromEntries(named) };
    return others.length === 0 ? places : { ...places, others };
  }

  #drop(ref: FunctionRef, slice: string): void {
    const slices = this.#slices.get(formatRef(ref));
    slices?.delete(slice);
    if (slices?.size === 0) this.#slices.delete(formatRef(ref));
  }
}
