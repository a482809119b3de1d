import type { LogRecord } from "../../../api/schemas/log-record.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LogQuery, LogSource } from "../../../core/ports/log-source.ts";
import { logLines, type LogLine } from "../../replica-logs/log-lines.ts";
import type { EndedLogs } from "../../replica-logs/ended-logs.ts";
import { readReplicaLogs, type LoggedReplicas, type LogRange } from "../../replica-logs/read-replica-logs.ts";
import type { ReplicaContainer } from "./docker-replicas.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import { logFrames } from "./engine/log-frames.ts";

/** The containers of functions. */
export interface LoggedContainers {
  containersOf(ref: FunctionRef): readonly ReplicaContainer[];
  /** False once a function and all its replicas are gone. */
  knows(ref: FunctionRef): boolean;
  onChange(changed: (ref: FunctionRef) => void): () => void;
}

/** How often a followed function is checked, milliseconds. */
const interval = 1_000;

/** Reads logs of functions from the engine. */
export class DockerLogSource implements LogSource {
  readonly #replicas: LoggedReplicas<ReplicaContainer>;

  constructor(engine: EngineClient, containers: LoggedContainers, ended?: EndedLogs) {
    this.#replicas = {
      interval,
      replicasOf: (ref) => Promise.resolve(containers.containersOf(ref)),
      knows: (ref) => containers.knows(ref),
      onChange: (changed) => containers.onChange(changed),
      ...(ended === undefined ? {} : { ended: (query, known) => ended.read(query, known) }),
      lines: (replica, range, signal) => linesOf(engine, replica, range, signal),
    };
  }

  read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord> {
    return readReplicaLogs(this.#replicas, query, signal);
  }
}

async function* linesOf(
  engine: EngineClient,
  { container }: ReplicaContainer,
  { since, tail, follow }: LogRange,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const query = {
    stdout: "1",
    stderr: "1",
    timestamps: "1",
    tail: tail === undefined ? "all" : String(tail),
    ...(since === undefined ? {} : { since: engineTime(since) }),
    ...(follow ? { follow: "1" } : {}),
  };
  try {
    const path = `/containers/${container}/logs`;
    const stream = await engine.stream("GET", path, { query, signal, timeout: follow ? 0 : 60_000 });
    yield* logLines(logFrames(stream));
  } catch {
    // The container is gone, the reader left, or the engine is unavailable.
  }
}

/** A timestamp of the engine as Unix seconds with nanoseconds. */
function engineTime(timestamp: string): string {
  return `${Math.floor(Date.parse(timestamp) / 1_000)}.${timestamp.slice(20, 29)}`;
}
