import { LineCounts, LineRate, lineRates } from "../../core/history/logs/line-rate.ts";
import { formatRef, type FunctionRef } from "../../core/functions/function-ref.ts";
import type { KeptLogsWriter } from "../../core/ports/kept-logs.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import type { LoggedFunctions } from "../../core/ports/logged-functions.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";
import { followFunction } from "./follow-function.ts";
import { LineBuffer } from "./line-buffer.ts";

/** Where logs are followed. */
export interface LogsToFollow {
  readonly source: LogSource;
  readonly functions: LoggedFunctions;
}

export interface KeepLogsParts extends LogsToFollow {
  readonly writer: Pick<KeptLogsWriter, "positions" | "append">;
  /** Called for each line that is not kept as there are too many. */
  readonly onDrop: () => void;
  /** Called with the number of replicas that are followed. */
  readonly onFollow: (replicas: number) => void;
  readonly log: Log;
  /** Milliseconds between two looks at which functions have logs (1 s). */
  readonly period?: number;
  /** Milliseconds until a write that failed is repeated (1 s). */
  readonly retryAfter?: number;
}

interface FollowedFunction {
  readonly rate: LineRate;
  readonly over: AbortController;
  readonly done: Promise<void>;
  /** Looks since it had a replica. */
  idle: number;
}

const defaultPeriod = 1_000;
/** Looks after which a function without a replica is followed no longer. */
const idleLooks = 5;

/** Follows the logs of all functions and keeps their lines, until `stop` aborts. Never rejects. */
export async function keepLogs(parts: KeepLogsParts, stop: AbortSignal): Promise<void> {
  const { functions, log, period = defaultPeriod } = parts;
  const followed = new Map<string, FollowedFunction>();
  const counts = new LineCounts(lineRates.process);
  const buffer = new LineBuffer((lines) => parts.writer.append(lines), log, parts.retryAfter);
  const stored = new AbortController();
  const storing = buffer.run(stored.signal);
  const putDropped = async (rate: LineRate): Promise<void> => {
    for (const line of rate.takeDropped()) await buffer.put(line, stop);
  };

  while (!stop.aborted) {
    try {
      const active = await functions.active();
      parts.onFollow(active.reduce((sum, { replicas }) => sum + replicas, 0));
      for (const one of followed.values()) one.idle += 1;
      for (const ref of active) {
        const known = followed.get(formatRef(ref));
        if (known === undefined) follow({ namespace: ref.namespace, name: ref.name });
        else known.idle = 0;
      }
    } catch (err) {
      log.debug({ err }, "cannot look for logs");
    }
    for (const one of followed.values()) {
      await putDropped(one.rate);
      if (one.idle >= idleLooks) one.over.abort();
    }
    await pauseFor(period, stop);
  }
  for (const { over } of followed.values()) over.abort();
  await Promise.all([...followed.values()].map(({ done }) => done));
  parts.onFollow(0);
  stored.abort();
  await storing;

  function follow(ref: FunctionRef): void {
    const key = formatRef(ref);
    const rate = new LineRate(counts, parts.onDrop);
    const over = new AbortController();
    const { source, writer } = parts;
    const done = followFunction(
      ref,
      { source, rate, buffer, positions: (of) => writer.positions(of) },
      AbortSignal.any([over.signal, stop]),
    )
      .catch((err: unknown) =>
        log.debug({ err, functionName: ref.name, namespace: ref.namespace }, "cannot follow a log"),
      )
      .then(async () => {
        await putDropped(rate);
        followed.delete(key);
      });
    followed.set(key, { rate, over, done, idle: 0 });
  }
}
