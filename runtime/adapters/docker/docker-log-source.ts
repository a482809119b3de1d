import { setTimeout as pause } from "node:timers/promises";

import type { LogRecord } from "../../api/log-record.ts";
import type { FunctionRef } from "../../core/function-ref.ts";
import type { LogQuery, LogSource } from "../../core/ports/log-source.ts";
import type { ReplicaContainer } from "./docker-replicas.ts";
import type { EngineClient } from "./engine-client.ts";
import { logFrames } from "./log-frames.ts";
import { logLines, type LogLine } from "./log-lines.ts";
import { MergedStreams } from "./merge-streams.ts";

/** Where the containers of functions are. */
export interface LoggedContainers {
  containersOf(ref: FunctionRef): readonly ReplicaContainer[];
  /** False once a function and all its replicas are gone. */
  knows(ref: FunctionRef): boolean;
  onChange(changed: (ref: FunctionRef) => void): () => void;
}

/** How often a followed function is looked at when nothing was told of it. */
const interval = 1_000;

/** The engine keeps long lines in pieces of 16 KiB, and counts those. */
const piecesPerLine = 5;

/** Reads logs of functions from the engine. A followed log ends when nothing of the function, once there, is left. */
export class DockerLogSource implements LogSource {
  readonly #engine: EngineClient;
  readonly #containers: LoggedContainers;

  constructor(engine: EngineClient, containers: LoggedContainers) {
    this.#engine = engine;
    this.#containers = containers;
  }

  async *read(query: LogQuery, signal: AbortSignal): AsyncGenerator<LogRecord> {
    if (signal.aborted) return;
    const merged = new MergedStreams<LogRecord>();
    const seen = new Set<string>();
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const look = (tail: number | undefined): void => {
      for (const replica of this.#containers.containersOf(query)) {
        if (seen.has(replica.id) || (query.instance !== undefined && query.instance !== replica.id)) continue;
        seen.add(replica.id);
        merged.add(this.#replica(replica, { ...query, tail }, either));
      }
    };
    look(query.tail);
    const endFollowing = query.follow ? this.#follow(query, () => look(undefined), merged) : merged.close();
    signal.addEventListener("abort", () => merged.close(), { once: true, signal: over.signal });
    try {
      for await (const record of merged.values()) {
        if (signal.aborted) return;
        yield record;
      }
    } finally {
      endFollowing?.();
      over.abort();
    }
  }

  /** Looks for new replicas until the function is gone; the returned function ends it. */
  #follow(ref: FunctionRef, look: () => void, merged: MergedStreams<LogRecord>): () => void {
    let wasThere = false;
    const again = (): void => {
      look();
      const isThere = this.#containers.knows(ref);
      if (wasThere && !isThere) merged.close();
      wasThere ||= isThere;
    };
    again();
    const timer = setInterval(again, interval).unref();
    const unhear = this.#containers.onChange(({ namespace, name }) => {
      if (namespace === ref.namespace && name === ref.name) again();
    });
    return () => {
      clearInterval(timer);
      unhear();
    };
  }

  /** What one replica wrote and, if it is followed, writes until it is stopped; goes on where it was when the engine was away. */
  async *#replica(replica: ReplicaContainer, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogRecord> {
    const { name, namespace, follow, tail } = query;
    let since = query.since === undefined ? undefined : (query.since / 1_000).toFixed(3);
    let last = "";
    const record = ({ timestamp, text }: LogLine): LogRecord => {
      last = timestamp;
      return { name, namespace, instance: replica.id, timestamp, text: `${text}\n` };
    };
    if (tail !== undefined) {
      const pieces = { since, tail: String(tail * piecesPerLine), follow: false };
      for (const line of await lastOf(this.#lines(replica, pieces, signal), tail)) yield record(line);
      if (!follow) return;
      if (last !== "") since = engineTime(last);
    }
    for (;;) {
      for await (const line of this.#lines(replica, { since, tail: "all", follow }, signal))
        if (line.timestamp > last) yield record(line);
      if (!follow) return;
      await pause(interval, undefined, { signal }).catch(() => {});
      const isThere = this.#containers.containersOf(query).some(({ id }) => id === replica.id);
      if (signal.aborted || !isThere) return;
      if (last !== "") since = engineTime(last);
    }
  }

  async *#lines(
    { container }: ReplicaContainer,
    { since, tail, follow }: { readonly since: string | undefined; readonly tail: string; readonly follow: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<LogLine> {
    const parameters = {
      stdout: "1",
      stderr: "1",
      timestamps: "1",
      tail,
      ...(since === undefined ? {} : { since }),
      ...(follow ? { follow: "1" } : {}),
    };
    try {
      const path = `/containers/${container}/logs`;
      const stream = await this.#engine.stream("GET", path, {
        query: parameters,
        signal,
        timeout: follow ? 0 : 60_000,
      });
      yield* logLines(logFrames(stream));
    } catch {
      // The container is gone, nobody reads any more, or the engine is away.
    }
  }
}

async function lastOf(lines: AsyncIterable<LogLine>, count: number): Promise<LogLine[]> {
  let kept: LogLine[] = [];
  for await (const line of lines) {
    kept.push(line);
    if (kept.length > 2 * count) kept = kept.slice(-count);
  }
  return kept.slice(-count);
}

/** Unix seconds with nanoseconds of a time as the engine writes it. */
function engineTime(timestamp: string): string {
  return `${Math.floor(Date.parse(timestamp) / 1_000)}.${timestamp.slice(20, 29)}`;
}
