import { Gauge } from "prom-client";

import type { AdminServer } from "./admin-server.ts";
import type { Log } from "./log.ts";

/** What may keep a broker from storing; of several the last one counts, which says most. */
const brokerFaults = ["away", "no-leader", "io-error", "full"] as const;
type BrokerFaultKind = (typeof brokerFaults)[number];

/** What keeps a broker from storing, as seen by one connection to it. */
export interface TroubleSource {
  readonly kind: BrokerFaultKind | undefined;
  onChange(listener: (kind: BrokerFaultKind | undefined, cause?: unknown) => void): void;
}

/**
 * Reports what keeps the broker from storing: `/readyz` lists it, as `broker: away`, with the text of `also`, the log has a line when it begins and one when it ends, and `broker_unavailable{kind}` is 1 meanwhile. A text of
 * `also` is a reason not to be ready by itself.
 */
export function followBroker(
  { admin, log }: { readonly admin: AdminServer; readonly log: Log },
  sources: readonly TroubleSource[],
  also: () => string | undefined = () => undefined,
): void {
  // A publisher may get no reply from a broker whose disk is full, and another connection knows why.
  const current = (): BrokerFaultKind | undefined =>
    brokerFaults.findLast((kind) => sources.some((source) => source.kind === kind));
  let reported: BrokerFaultKind | undefined;
  admin.addCheck("broker", () => {
    const kind = current();
    const detail = also();
    if (kind === undefined) return detail;
    return detail === undefined ? `broker: ${kind}` : `broker: ${kind}: ${detail}`;
  });
  const gauge = new Gauge({
    name: "broker_unavailable",
    help: "1 while the broker does not answer (away), has no leader (no-leader) or room (full), or its disk fails (io-error)",
    labelNames: ["kind"],
    registers: [admin.registry],
    collect: () => {
      for (const kind of brokerFaults) gauge.set({ kind }, current() === kind ? 1 : 0);
    },
  });
  for (const source of sources) {
    source.onChange((_kind, err) => {
      const kind = current();
      if (kind === reported) return;
      if (kind === undefined) log.info({ was: reported }, "the broker is back");
      else log.warn({ broker: kind, err }, sentence[kind]);
      reported = kind;
    });
  }
}

const sentence: Readonly<Record<BrokerFaultKind, string>> = {
  away: "the broker does not answer: no call is accepted or ended until it does",
  "no-leader": "the servers of the broker have no leader: no call is accepted or ended until they have chosen one",
  full: "the broker has no room: no call is accepted or ended until it has; make room on its disk",
  "io-error":
    "the disk of the broker fails: no call is accepted or ended until it works; look at the log of the broker",
};
