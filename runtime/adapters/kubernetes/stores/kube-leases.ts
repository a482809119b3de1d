import type { Leases } from "../../../core/ports/leases.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isAlreadyThere, isConflict, isNotFound } from "../client/kube-refusal.ts";
import type { KubeOptions } from "../client/kube-requests.ts";
import type { KubeObject } from "../client/kube-types.ts";

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
const longestTimeout = 10_000;

/** What a lease says of who has it. */
type Held = Required<Pick<LeaseObject["spec"], "holderIdentity" | "leaseDurationSeconds">>;

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
  /** Leases as this one wrote them last, by name: to renew takes one request. */
  readonly #written = new Map<string, LeaseObject>();

  /** `now` is in monotonic milliseconds. */
  constructor(client: KubeClient, namespace: string, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#namespace = namespace;
    this.#now = now;
  }

  async acquire(name: string, holder: string, duration: number): Promise<boolean> {
    // What comes later is of no use.
    const options = { timeout: Math.min(longestTimeout, Math.max(1_000, duration / 2)), attempts: 2 };
    const held = { holderIdentity: holder, leaseDurationSeconds: Math.max(1, Math.ceil(duration / 1_000)) };
    const written = this.#written.get(name);
    if (written?.spec.holderIdentity === holder && (await this.#write(written, held, options))) return true;
    const found = await this.#find(name, options);
    if (found === undefined) return this.#create(name, held, options);
    if (found.spec.holderIdentity !== holder && !this.#isOver(name, found)) return false;
    return this.#write(found, held, options);
  }

  async release(name: string, holder: string): Promise<void> {
    this.#written.delete(name);
    const found = await this.#find(name);
    if (found?.spec.holderIdentity !== holder) return;
    const lease = { ...found, spec: { ...found.spec, holderIdentity: "" } };
    await this.#won(() => this.#client.replace<LeaseObject>(kinds.lease, lease, { namespace: this.#namespace, name }));
  }

  #find(name: string, options?: KubeOptions): Promise<LeaseObject | undefined> {
    return this.#client.find<LeaseObject>(kinds.lease, { namespace: this.#namespace, name }, options);
  }

  /** False when it was written by somebody else since it was read, or is gone. */
  async #write(lease: LeaseObject, held: Held, options: KubeOptions): Promise<boolean> {
    const { metadata, spec } = lease;
    const { name = "" } = metadata;
    const renewTime = microTime();
    const isOurs = spec.holderIdentity === held.holderIdentity;
    const taken = isOurs ? {} : { acquireTime: renewTime, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    const wanted = { ...lease, spec: { ...spec, ...held, ...taken, renewTime } };
    return this.#won(() => this.#client.replace(kinds.lease, wanted, { namespace: this.#namespace, name }, options));
  }

  async #create(name: string, held: Held, options: KubeOptions): Promise<boolean> {
    const renewTime = microTime();
    const metadata = { namespace: this.#namespace, name };
    const lease: LeaseObject = {
      metadata,
      spec: { ...held, renewTime, acquireTime: renewTime, leaseTransitions: 0 },
    };
    return this.#won(() => this.#client.create(kinds.lease, lease, {}, options));
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
  async #won(write: () => Promise<LeaseObject>): Promise<boolean> {
    try {
      const written = await write();
      this.#written.set(written.metadata.name ?? "", written);
      return true;
    } catch (err) {
      if (!isAlreadyThere(err) && !isConflict(err) && !isNotFound(err)) throw err;
      return false;
    }
  }
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
