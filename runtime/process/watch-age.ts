import { Gauge, type Registry } from "prom-client";

/** A watched kind of objects. */
export interface Watched {
  readonly kind: string;
  /** Milliseconds since the API server last sent something about them; infinite before the first time. */
  readonly age: number;
}

/** Registers how long ago the API server last sent something, by kind; `watched` is called at each scrape. */
export function registerWatchAge(registry: Registry, watched: () => Iterable<Watched>): Gauge<"kind"> {
  return new Gauge({
    name: "kubernetes_watch_age_seconds",
    help: "Seconds since the API server last sent something about objects of a kind; up to 45 if nothing changes",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kind, age } of watched()) this.set({ kind }, age / 1_000);
    },
  });
}
