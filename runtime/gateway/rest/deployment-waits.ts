import type { ServerResponse } from "node:http";

import { formatDuration, parseDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { DesiredFunction } from "../../core/functions/desired-function.ts";
import { lastLogLines } from "../../core/replicas/last-log-lines.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import { quote } from "../../core/quote.ts";
import { endOfRollout, rolloutOf, type FunctionView, type Rollout } from "../../core/replicas/rollout.ts";
import type { Log } from "../../process/log.ts";

/** Longest wait for a deployment, milliseconds (contract §3.1). */
const longestWait = 300_000;
/** Longest time to read a function's last log lines, milliseconds; the reply is then sent without them. */
const longestRead = 2_000;

/**
 * How long to wait for a deployment, milliseconds; 0 = not at all.
 * @throws PlatformError `validation_failed` if it is not a duration or longer than 5m
 */
export function parseWait(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const wait = parseDuration(text);
  if (wait !== undefined && wait <= longestWait) return wait;
  const expected = `expected a duration such as 30s, at most ${formatDuration(longestWait)}`;
  throw new PlatformError("validation_failed", `Cannot wait ${quote(text)}: ${expected}`);
}

export interface DeploymentWaitParts {
  readonly view: FunctionView;
  /** Absent = logs of functions are not kept. */
  readonly logs: LogSource | undefined;
  readonly log: Log;
}

/** Lets requests wait until their deployment is ready. */
export class DeploymentWaits {
  readonly #parts: DeploymentWaitParts;
  readonly #closing = new AbortController();

  constructor(parts: DeploymentWaitParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when all replicas of the deployment `written` are ready, or the client of `response` left.
   * @throws PlatformError `not_ready` when they are not ready after `wait` milliseconds or cannot become ready, with
   * the reason and the last lines that the function wrote since
   */
  async ready(written: DesiredFunction, wait: number, response: ServerResponse): Promise<void> {
    const { view, log } = this.#parts;
    // Endpoints of a removed function of the same name: the provider has not seen the new one yet.
    const stale = written.generation === 1 ? view.endpoints(written) : undefined;
    const read = (): Rollout => {
      const endpoints = view.endpoints(written);
      return rolloutOf(written, view.wanted(written), endpoints === stale ? undefined : endpoints);
    };
    // It may have closed before, and will not emit that again.
    if (response.closed) return;
    const left = new AbortController();
    const leave = (): void => left.abort();
    response.once("close", leave);
    try {
      const ending = AbortSignal.any([left.signal, this.#closing.signal]);
      const rollout = await endOfRollout(read, (changed) => view.watch(written, changed), wait, ending);
      if (rollout.kind === "ready" || left.signal.aborted) return;
      const lines = await this.#lines(written, left.signal);
      const { name, namespace, generation } = written;
      log.warn({ functionName: name, namespace, generation, reason: rollout.message }, "deployment is not ready");
      throw new PlatformError(
        "not_ready",
        `${sentence(written, rollout, wait)}${previousNote(view, written)}${quoted(lines)}`,
      );
    } finally {
      response.off("close", leave);
    }
  }

  /** Ends all waits, as the gateway stops. */
  close(): void {
    this.#closing.abort();
  }

  async #lines(written: DesiredFunction, left: AbortSignal): Promise<readonly string[]> {
    const { logs, log } = this.#parts;
    if (logs === undefined) return [];
    const signal = AbortSignal.any([left, AbortSignal.timeout(longestRead)]);
    try {
      return await lastLogLines(logs, written, Date.parse(written.updatedAt), signal);
    } catch (err) {
      log.debug(
        { err, functionName: written.name, namespace: written.namespace },
        "cannot read the last log lines of a function",
      );
      return [];
    }
  }
}

function sentence({ name }: DesiredFunction, rollout: Exclude<Rollout, { kind: "ready" }>, wait: number): string {
  const within = rollout.kind === "failed" ? "" : ` in ${formatDuration(wait)}`;
  return `Cannot get function "${name}" ready${within}: ${rollout.message}`;
}

/** A note that replicas of the previous deployment still serve, as they do until a new one is ready. */
function previousNote(view: FunctionView, written: DesiredFunction): string {
  const serving = view.endpoints(written)?.addresses.length ?? 0;
  return written.generation === 1 || serving === 0 ? "" : " (calls are still served by the deployment before)";
}

function quoted(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.join("\n")}`;
}
