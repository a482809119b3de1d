import { setTimeout as pause } from "node:timers/promises";

import type { FunctionRef } from "../../core/function-ref.ts";
import type { FunctionUsage, Usage } from "../../core/ports/usage.ts";
import type { ReplicaContainer } from "./docker-replicas.ts";
import type { EngineClient } from "./engine-client.ts";
import type { StatsDocument } from "./engine-types.ts";

interface Sample {
  /** Unix milliseconds. */
  readonly at: number;
  /** Nanoseconds of processor time so far. */
  readonly cpu: number;
  readonly memory: number;
}

/** Milliseconds between the two looks that a rate is made of. */
const between = 300;
const timeout = 1_500;

/** Asks the engine what containers use. */
export class DockerUsage implements Usage {
  readonly #engine: EngineClient;
  readonly #containersOf: (ref: FunctionRef) => readonly ReplicaContainer[];

  constructor(engine: EngineClient, containersOf: (ref: FunctionRef) => readonly ReplicaContainer[]) {
    this.#engine = engine;
    this.#containersOf = containersOf;
  }

  async of(ref: FunctionRef): Promise<FunctionUsage | undefined> {
    const signal = AbortSignal.timeout(timeout);
    const used = await Promise.all(this.#containersOf(ref).map(({ container }) => this.#usedBy(container, signal)));
    const known = used.filter((usage) => usage !== undefined);
    if (known.length === 0) return undefined;
    return {
      cpu: Math.round(known.reduce((sum, { cpu }) => sum + cpu, 0)),
      totalMemoryBytes: known.reduce((sum, { totalMemoryBytes }) => sum + totalMemoryBytes, 0),
    };
  }

  async #usedBy(container: string, signal: AbortSignal): Promise<FunctionUsage | undefined> {
    try {
      const first = await this.#sample(container, signal);
      await pause(between, undefined, { signal });
      const second = await this.#sample(container, signal);
      if (first === undefined || second === undefined || second.at <= first.at) return undefined;
      const nanoseconds = (second.at - first.at) * 1e6;
      return { cpu: (Math.max(0, second.cpu - first.cpu) / nanoseconds) * 1_000, totalMemoryBytes: second.memory };
    } catch {
      // Ended in between, or the engine is away or slow.
      return undefined;
    }
  }

  async #sample(container: string, signal: AbortSignal): Promise<Sample | undefined> {
    const query = { stream: "false", "one-shot": "true" };
    const { body } = await this.#engine.call<StatsDocument>("GET", `/containers/${container}/stats`, { query, signal });
    const cpu = body?.cpu_stats?.cpu_usage?.total_usage;
    const { usage, stats } = body?.memory_stats ?? {};
    if (body === undefined || cpu === undefined || usage === undefined) return undefined;
    // Cached files that the system would give back first are nobody's use, as the engine's own tools show it.
    const cached = stats?.total_inactive_file ?? stats?.inactive_file ?? 0;
    return { at: Date.parse(body.read), cpu, memory: Math.max(0, usage - cached) };
  }
}
