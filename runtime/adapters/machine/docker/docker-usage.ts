import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FunctionUsage, Usage } from "../../../core/ports/usage.ts";
import type { ReplicaContainer } from "./docker-replicas.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { StatsDocument } from "./engine/engine-types.ts";

/** Longest that the engine may take for all containers of a function, milliseconds. */
const timeout = 5_000;

/** Reads from the engine what containers use. */
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
      // Not a stream: the engine samples twice, a second apart, and returns both.
      const query = { stream: "false" };
      const { body } = await this.#engine.call<StatsDocument>("GET", `/containers/${container}/stats`, {
        query,
        signal,
      });
      return body === undefined ? undefined : usageIn(body);
    } catch {
      // The container ended meanwhile, or the engine is unavailable or slow.
      return undefined;
    }
  }
}

function usageIn({
  read,
  preread,
  cpu_stats: now,
  precpu_stats: before,
  memory_stats: memory,
}: StatsDocument): FunctionUsage | undefined {
  const milliseconds = Date.parse(read) - Date.parse(preread);
  const nanoseconds = (now?.cpu_usage?.total_usage ?? 0) - (before?.cpu_usage?.total_usage ?? 0);
  if (memory?.usage === undefined || !(milliseconds > 0)) return undefined;
  // Cached files that the kernel would reclaim first do not count, as in the engine's own tools.
  const cached = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  return { cpu: Math.max(0, nanoseconds / milliseconds / 1_000), totalMemoryBytes: Math.max(0, memory.usage - cached) };
}
