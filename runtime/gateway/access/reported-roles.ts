import type { Log } from "../../process/log.ts";
import type { AccessObserver } from "./access-observer.ts";

/** Logs each refused request that a role which only reports would have allowed, and tells `observer` of all. */
export function withReportedRoles(observer: AccessObserver, log: Log): AccessObserver {
  return {
    refused(access) {
      const { principal, action, resources, reported } = access;
      if (reported !== undefined) {
        const { subject, issuer } = principal ?? {};
        log.info({ subject, issuer, action, resources, ...reported }, "a report-only role would have allowed this");
      }
      observer.refused(access);
    },
    changed: (access) => observer.changed(access),
  };
}
