import { Gauge, type Registry } from "prom-client";

/** A kind of objects that is watched. */
export interface Watched {
  readonly kind: string;
  /** Milliseconds since the API server last said something about them; infinite before the first time. */
  readonly age: number;
}

/** Registers how long ago the API server last said something, by kind; `watched` is asked at each scrape. */
export function registerWatchAge(registry: Registry, watched: () => Iterable<Watched>): Gauge<"kind"> {
  return new Gauge({
    name: "kubernetes_watch_age_seconds",
    help: "Seconds since the API server last said something about objects of a kind; up to 45 where nothing changes",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kind, age } of watched()) this.set({ kind }, age / 1_000);
    },
  });
}
