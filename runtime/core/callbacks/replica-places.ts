import { formatRef, type FunctionRef } from "../functions/function-ref.ts";
import type { Endpoints } from "../ports/endpoints.ts";
import type { IsReplica } from "./callback-policy.ts";

/**
 * Whether one of `addresses` (`host:port`) is at a place. Replicas on this machine share its addresses with others, so
 * their ports alone are meant, at each of those; any other address is a replica's alone, with all of its ports.
 */
export function replicasAt(addresses: () => Iterable<string>): IsReplica {
  return ({ address, port }, isOwn) => {
    const isHere = isOwn(address);
    for (const text of addresses()) {
      const { host, port: itsPort } = placeOf(text);
      if (isHere ? itsPort === port && isOwn(host) : host === address) return true;
    }
    return false;
  };
}

/** The addresses of all functions, as a watch of their endpoints reports them. */
export class RegisteredReplicas {
  readonly #ofFunctions = new Map<string, readonly string[]>();
  /** How many addresses have a host. */
  readonly #counts = new Map<string, number>();

  /** The same parts with endpoints whose next watch fills this. */
  watching<P extends { readonly endpoints: Endpoints }>(parts: P): P {
    return { ...parts, endpoints: this.following(parts.endpoints) };
  }

  /** The endpoints, whose next watch fills this. */
  following(endpoints: Endpoints): Endpoints {
    return {
      watch: (observer) =>
        endpoints.watch({
          set: (entry) => {
            this.#set(entry, [...entry.addresses, ...(entry.others ?? [])]);
            observer.set(entry);
          },
          removed: (ref) => {
            this.#set(ref, []);
            observer.removed(ref);
          },
          synced: () => observer.synced(),
        }),
    };
  }

  /** Whether a replica is at a place. */
  readonly isReplica: IsReplica = (place, isOwn) =>
    isOwn(place.address)
      ? replicasAt(() => [...this.#ofFunctions.values()].flat())(place, isOwn)
      : this.#counts.has(place.address);

  #set(ref: FunctionRef, addresses: readonly string[]): void {
    const key = formatRef(ref);
    for (const text of this.#ofFunctions.get(key) ?? []) this.#count(placeOf(text).host, -1);
    for (const text of addresses) this.#count(placeOf(text).host, 1);
    if (addresses.length === 0) this.#ofFunctions.delete(key);
    else this.#ofFunctions.set(key, addresses);
  }

  #count(host: string, change: number): void {
    const count = (this.#counts.get(host) ?? 0) + change;
    if (count === 0) this.#counts.delete(host);
    else this.#counts.set(host, count);
  }
}

function placeOf(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(text.slice(colon + 1)) };
}
