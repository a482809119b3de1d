import { Gauge } from "prom-client";

import type { AdminServer } from "./admin-server.ts";
import type { Log } from "./log.ts";

/** What keeps a broker from storing, as a connection to it tells. */
export interface TroubleSource {
  readonly kind: "away" | "full" | undefined;
  onChange(hear: (kind: "away" | "full" | undefined, cause?: unknown) => void): void;
}

/**
 * Says what keeps the broker from storing: `/readyz` lists `broker: away` or `broker: full`, with what `also` knows of it, the
 * log has a line when it begins and one when it is over, and `broker_unavailable{kind}` is 1 meanwhile. What `also` says is a
 * reason not to be ready by itself.
 */
export function followBroker(
  { admin, log }: { readonly admin: AdminServer; readonly log: Log },
  sources: readonly TroubleSource[],
  also: () => string | undefined = () => undefined,
): void {
  // Who publishes to a broker whose disk is full may get no answer: who knows better is believed.
  const now = (): "away" | "full" | undefined =>
    (["full", "away"] as const).find((kind) => sources.some((source) => source.kind === kind));
  let said: "away" | "full" | undefined;
  admin.addCheck("broker", () => {
    const kind = now();
    const more = also();
    if (kind === undefined) return more;
    return more === undefined ? `broker: ${kind}` : `broker: ${kind}: ${more}`;
  });
  const gauge = new Gauge({
    name: "broker_unavailable",
    help: "1 while the broker does not answer (away) or has no room (full)",
    labelNames: ["kind"],
    registers: [admin.registry],
    collect: () => {
      for (const kind of ["away", "full"] as const) gauge.set({ kind }, now() === kind ? 1 : 0);
    },
  });
  for (const source of sources) {
    source.onChange((_kind, err) => {
      const kind = now();
      if (kind === said) return;
      if (kind === undefined) log.info({ was: said }, "the broker is back");
      else log.warn({ broker: kind, err }, sentence[kind]);
      said = kind;
    });
  }
}

const sentence = {
  away: "the broker does not answer: no call is accepted or ended until it does",
  full: "the broker has no room: no call is accepted or ended until it has; make room on its disk",
};
