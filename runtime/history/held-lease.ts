import type { Leases } from "../core/ports/leases.ts";

/** `leases` of one holder whatever the callers are named: a process that starts anew has the lease of the one before. */
export function leasesOf(leases: Leases, holder: string): Leases {
  return {
    acquire: (name, _caller, duration) => leases.acquire(name, holder, duration),
    release: (name) => leases.release(name, holder),
  };
}
