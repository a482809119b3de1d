import type { Leases } from "../../core/ports/leases.ts";
import type { KubeClient } from "./client.ts";
import { kinds } from "./kinds.ts";
import { isAlreadyThere, isConflict } from "./kube-refusal.ts";
import type { KubeOptions } from "./kube-requests.ts";
import type { KubeObject } from "./kube-types.ts";

/** `coordination.k8s.io/v1` Lease, as far as it is used. */
interface LeaseObject extends KubeObject {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    /** RFC 3339, microseconds. */
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** Milliseconds. */
const longestTimeout = 5_000;

/** A lease as it was seen first, and when, in monotonic milliseconds. */
interface Sighting {
  readonly version: string | undefined;
  readonly at: number;
}

/**
 * Leases as objects of `coordination.k8s.io`. Clocks of machines differ, so nobody reads the times in them: a lease of
 * somebody else is over when it was not renewed for its duration since this one saw it first. That is longer than needed
 * by the time between two looks.
 */
export class KubeLeases implements Leases {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Sighting>();

  /** `now` is in monotonic milliseconds. */
  constructor(client: KubeClient, namespace: string, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#namespace = namespace;
    this.#now = now;
  }

  async acquire(name: string, holder: string, duration: number): Promise<boolean> {
    // What comes later is of no use.
    const options = { timeout: Math.min(longestTimeout, Math.max(1_000, duration / 2)), attempts: 2 };
    const found = await this.#find(name, options);
    const held = { holderIdentity: holder, leaseDurationSeconds: Math.max(1, Math.ceil(duration / 1_000)) };
    const renewTime = microTime();
    if (found === undefined) {
      return this.#won(async () => {
        const metadata = { namespace: this.#namespace, name };
        const spec = { ...held, renewTime, acquireTime: renewTime, leaseTransitions: 0 };
        const lease: LeaseObject = { metadata, spec };
        await this.#client.create(kinds.lease, lease, {}, options);
      });
    }
    const { spec } = found;
    const isOurs = spec.holderIdentity === holder;
    if (!isOurs && !this.#isOver(name, found)) return false;
    const taken = isOurs ? {} : { acquireTime: renewTime, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    return this.#won(() => this.#write(name, { ...found, spec: { ...spec, ...held, ...taken, renewTime } }, options));
  }

  async release(name: string, holder: string): Promise<void> {
    const found = await this.#find(name);
    if (found?.spec.holderIdentity !== holder) return;
    await this.#won(() => this.#write(name, { ...found, spec: { ...found.spec, holderIdentity: "" } }));
  }

  #find(name: string, options?: KubeOptions): Promise<LeaseObject | undefined> {
    return this.#client.find<LeaseObject>(kinds.lease, { namespace: this.#namespace, name }, options);
  }

  async #write(name: string, lease: LeaseObject, options?: KubeOptions): Promise<void> {
    await this.#client.replace(kinds.lease, lease, { namespace: this.#namespace, name }, options);
  }

  #isOver(name: string, { metadata, spec }: LeaseObject): boolean {
    if ((spec.holderIdentity ?? "") === "") return true;
    const seen = this.#seen.get(name);
    if (seen === undefined || seen.version !== metadata.resourceVersion) {
      this.#seen.set(name, { version: metadata.resourceVersion, at: this.#now() });
      return false;
    }
    return this.#now() - seen.at >= (spec.leaseDurationSeconds ?? 0) * 1_000;
  }

  /** False when somebody else was faster. */
  async #won(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (err) {
      if (isAlreadyThere(err) || isConflict(err)) return false;
      throw err;
    }
  }
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
