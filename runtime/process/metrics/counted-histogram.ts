import { Histogram } from "prom-client";

import { durationBounds, type DurationHistogram } from "./duration-histogram.ts";

type Counted<T extends string> = Iterable<readonly [labels: Readonly<Record<T, string>>, durations: DurationHistogram]>;

interface Sample {
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

/** A metric in seconds that reads histograms counted elsewhere at each scrape. The caller has to register it. */
export class CountedHistogram<T extends string> extends Histogram<T> {
  readonly #shown: { readonly name: string; readonly help: string; readonly type: "histogram" };
  readonly #read: () => Counted<T>;

  constructor(options: { name: string; help: string; labelNames: T[]; read: () => Counted<T> }) {
    const { name, help, labelNames, read } = options;
    super({ name, help, labelNames, registers: [] });
    this.#shown = { name, help, type: "histogram" };
    this.#read = read;
  }

  /** Called by the registry when it writes text. */
  async getForPromString(): Promise<{ name: string; help: string; type: "histogram"; values: Sample[] }> {
    return { ...this.#shown, values: [...this.#samples()] };
  }

  *#samples(): Generator<Sample> {
    const { name } = this.#shown;
    for (const [sharedLabels, durations] of this.#read()) {
      let below = 0;
      for (const [index, bound] of durationBounds.entries()) {
        below += durations.buckets[index] ?? 0;
        yield { sharedLabels, labels: { le: seconds(bound) }, value: below, metricName: `${name}_bucket` };
      }
      yield { sharedLabels, labels: { le: "+Inf" }, value: durations.count, metricName: `${name}_bucket` };
      yield { sharedLabels, labels: {}, value: seconds(durations.sum), metricName: `${name}_sum` };
      yield { sharedLabels, labels: {}, value: durations.count, metricName: `${name}_count` };
    }
  }
}

function seconds(milliseconds: number): number {
  return milliseconds / 1_000;
}
