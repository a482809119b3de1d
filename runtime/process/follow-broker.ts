import { Gauge } from "prom-client";

import type { AdminServer } from "./admin-server.ts";
import type { Log } from "./log.ts";

/** What keeps a broker from storing, as seen by one connection to it. */
export interface TroubleSource {
  readonly kind: "away" | "full" | undefined;
  onChange(listener: (kind: "away" | "full" | undefined, cause?: unknown) => void): void;
}

/**
 * Reports what keeps the broker from storing: `/readyz` lists `broker: away` or `broker: full` with the text of `also`,
 * the log has a line when it begins and one when it ends, and `broker_unavailable{kind}` is 1 meanwhile. A text of
 * `also` is a reason not to be ready by itself.
 */
export function followBroker(
  { admin, log }: { readonly admin: AdminServer; readonly log: Log },
  sources: readonly TroubleSource[],
  also: () => string | undefined = () => undefined,
): void {
  // A publisher may get no reply from a broker whose disk is full: `full` on any connection wins over `away`.
  const current = (): "away" | "full" | undefined =>
    (["full", "away"] as const).find((kind) => sources.some((source) => source.kind === kind));
  let reported: "away" | "full" | undefined;
  admin.addCheck("broker", () => {
    const kind = current();
    const detail = also();
    if (kind === undefined) return detail;
    return detail === undefined ? `broker: ${kind}` : `broker: ${kind}: ${detail}`;
  });
  const gauge = new Gauge({
    name: "broker_unavailable",
    help: "1 while the broker does not answer (away) or has no room (full)",
    labelNames: ["kind"],
    registers: [admin.registry],
    collect: () => {
      for (const kind of ["away", "full"] as const) gauge.set({ kind }, current() === kind ? 1 : 0);
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

const sentence = {
  away: "the broker does not answer: no call is accepted or ended until it does",
  full: "the broker has no room: no call is accepted or ended until it has; make room on its disk",
};
