import type { PullLine } from "../engine/engine-types.ts";

interface Layer {
  readonly done: boolean;
  readonly current: number;
  readonly total: number;
}

const finished = new Set(["Pull complete", "Already exists"]);
const fetched = new Set(["Download complete", "Verifying Checksum", "Extracting"]);
const megabyte = 1_000_000;

/** Sums up the progress that the engine reports during a pull. */
export class PullProgress {
  readonly #layers = new Map<string, Layer>();

  add({ id, status, progressDetail }: PullLine): void {
    if (id === undefined || status === undefined || status.startsWith("Pulling from")) return;
    const before = this.#layers.get(id) ?? { done: false, current: 0, total: 0 };
    const { current = before.current, total = before.total } = progressDetail ?? {};
    if (finished.has(status)) this.#layers.set(id, { ...before, done: true, current: before.total });
    else if (fetched.has(status)) this.#layers.set(id, { ...before, current: before.total });
    else this.#layers.set(id, { done: false, current, total });
  }

  /** For a sentence, such as `2 of 5 layers, 31 of 84 MB`; empty before anything is known. */
  text(): string {
    const layers = [...this.#layers.values()];
    if (layers.length === 0) return "";
    const sum = (of: (layer: Layer) => number): number => layers.reduce((all, layer) => all + of(layer), 0);
    const total = sum((layer) => layer.total);
    const bytes =
      total === 0
        ? ""
        : `, ${Math.round(sum(({ current }) => current) / megabyte)} of ${Math.round(total / megabyte)} MB`;
    return `${layers.filter(({ done }) => done).length} of ${layers.length} layers${bytes}`;
  }
}
