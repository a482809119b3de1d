import { openDescriptors, residentBytes } from "../../test/support/process-facts.ts";
import type { WeirProcess } from "../../test/support/weir-process.ts";
import type { HoldingSample } from "./judge-flatness.ts";

/** A process of Weir and what it held over time. */
export interface SampledProcess {
  readonly pid: number;
  readonly name: string;
  readonly samples: HoldingSample[];
}

const every = 1_000;

/** Samples once a second what Weir, its broker and its functions hold. */
export class ProcessSamples {
  readonly #weir: WeirProcess;
  readonly #begin = performance.now();
  readonly #seen = new Map<number, SampledProcess>();
  readonly #timer: NodeJS.Timeout;

  constructor(weir: WeirProcess) {
    this.#weir = weir;
    this.#timer = setInterval(() => this.#sample(), every);
  }

  /** The processes that are in both the first and the last sample. */
  get lasting(): readonly SampledProcess[] {
    const all = [...this.#seen.values()];
    const first = Math.min(...all.map(({ samples }) => samples[0]?.at ?? Infinity));
    const last = Math.max(...all.map(({ samples }) => samples.at(-1)?.at ?? 0));
    return all.filter(({ samples }) => samples[0]?.at === first && samples.at(-1)?.at === last);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const at = performance.now() - this.#begin;
    const { pid, below } = this.#weir;
    for (const { pid: each, command } of [{ pid, command: "weir" }, ...below()]) {
      try {
        const sample = { at, memory: residentBytes(each), descriptors: openDescriptors(each) };
        const known = this.#seen.get(each) ?? { pid: each, name: nameOf(command), samples: [] };
        known.samples.push(sample);
        this.#seen.set(each, known);
      } catch {
        // It has just ended.
      }
    }
  }
}

function nameOf(command: string): string {
  if (command === "weir") return command;
  if (command.includes("nats-server")) return "broker";
  return command.includes("watchdog") ? "watchdog" : "function";
}
