import type { Leases } from "../../../core/ports/leases.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../client/kube-refusal.ts";
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

/** The fields of a lease that say who holds it. */
type Held = Required<Pick<LeaseObject["spec"], "holderIdentity" | "leaseDurationSeconds">>;

/** A version of a lease, and when it was first seen, in monotonic milliseconds. */
interface Sighting {
  readonly version: string | undefined;
  readonly at: number;
}

/**
 * Leases as objects of `coordination.k8s.io`. Clocks of machines differ, so the times in them are not read: another
 * holder's lease is over when it was not renewed for its duration after this process first saw it. That is longer than
 * needed by the time between two checks.
 */
export class KubeLeases implements Leases {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Sighting>();
  /** Leases as last written here, by name, so that a renewal takes one request. */
  readonly #written = new Map<string, LeaseObject>();

  /** `now` is in monotonic milliseconds. */
  constructor(client: KubeClient, namespace: string, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#namespace = namespace;
    this.#now = now;
  }

  async acquire(name: string, holder: string, duration: number): Promise<boolean> {
    // A response that comes later is of no use.
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
    await this.#tryWrite(() =>
      this.#client.replace<LeaseObject>(kinds.lease, lease, { namespace: this.#namespace, name }),
    );
  }

  #find(name: string, options?: KubeOptions): Promise<LeaseObject | undefined> {
    return this.#client.find<LeaseObject>(kinds.lease, { namespace: this.#namespace, name }, options);
  }

  /** False when another process wrote it since it was read, or it is gone. */
  async #write(lease: LeaseObject, held: Held, options: KubeOptions): Promise<boolean> {
    const { metadata, spec } = lease;
    const { name = "" } = metadata;
    const renewTime = microTime();
    const isOurs = spec.holderIdentity === held.holderIdentity;
    const acquired = isOurs ? {} : { acquireTime: renewTime, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    const wanted = { ...lease, spec: { ...spec, ...held, ...acquired, renewTime } };
    return this.#tryWrite(() =>
      this.#client.replace(kinds.lease, wanted, { namespace: this.#namespace, name }, options),
    );
  }

  async #create(name: string, held: Held, options: KubeOptions): Promise<boolean> {
    const renewTime = microTime();
    const metadata = { namespace: this.#namespace, name };
    const lease: LeaseObject = {
      metadata,
      spec: { ...held, renewTime, acquireTime: renewTime, leaseTransitions: 0 },
    };
    return this.#tryWrite(() => this.#client.create(kinds.lease, lease, {}, options));
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

  /** False when another process was faster. */
  async #tryWrite(write: () => Promise<LeaseObject>): Promise<boolean> {
    try {
      const written = await write();
      this.#written.set(written.metadata.name ?? "", written);
      return true;
    } catch (err) {
      if (!isAlreadyExists(err) && !isConflict(err) && !isNotFound(err)) throw err;
      return false;
    }
  }
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
