import type { ServerResponse } from "node:http";

import { formatDuration, parseDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { DesiredFunction } from "../../core/functions/desired-function.ts";
import { lastLogLines } from "../../core/replicas/last-log-lines.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import { quote } from "../../core/quote.ts";
import { endOfRollout, rolloutOf, type FunctionView, type Rollout } from "../../core/replicas/rollout.ts";
import type { Log } from "../../process/log.ts";

/** Longest that a deployment is waited for, milliseconds (contract §3.1). */
const longestWait = 300_000;
/** What a function wrote helps, but is not waited for any longer, milliseconds. */
const longestRead = 2_000;

/**
 * How long to wait for a deployment, milliseconds; 0 = not at all.
 * @throws PlatformError `validation_failed` for what is no duration or longer than 5m
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
  /** Absent: what functions write is not kept. */
  readonly logs: LogSource | undefined;
  readonly log: Log;
}

/** Requests that wait until what they deployed is ready. */
export class DeploymentWaits {
  readonly #parts: DeploymentWaitParts;
  readonly #closing = new AbortController();

  constructor(parts: DeploymentWaitParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when all replicas of the deployment `written` are ready, or the client of `response` left.
   * @throws PlatformError `not_ready` when they are not after `wait` milliseconds, or will not be, with the reason and the
   * last lines that the function wrote since
   */
  async ready(written: DesiredFunction, wait: number, response: ServerResponse): Promise<void> {
    const { view, log } = this.#parts;
    // Of a function that was removed a moment ago: the provider has not heard of the new one yet.
    const stale = written.generation === 1 ? view.endpoints(written) : undefined;
    const look = (): Rollout => {
      const said = view.endpoints(written);
      return rolloutOf(written, view.wanted(written), said === stale ? undefined : said);
    };
    const left = new AbortController();
    const leave = (): void => left.abort();
    response.once("close", leave);
    try {
      const ending = AbortSignal.any([left.signal, this.#closing.signal]);
      const rollout = await endOfRollout(look, (changed) => view.watch(written, changed), wait, ending);
      if (rollout.kind === "ready" || left.signal.aborted) return;
      const lines = await this.#lines(written, left.signal);
      const { name, namespace, generation } = written;
      log.warn({ functionName: name, namespace, generation, why: rollout.message }, "deployment is not ready");
      throw new PlatformError("not_ready", `${sentence(written, rollout, wait)}${old(view, written)}${quoted(lines)}`);
    } finally {
      response.off("close", leave);
    }
  }

  /** Ends all waits: nobody learns anything more here. */
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
      log.debug({ err, functionName: written.name, namespace: written.namespace }, "cannot read what it wrote");
      return [];
    }
  }
}

function sentence({ name }: DesiredFunction, rollout: Exclude<Rollout, { kind: "ready" }>, wait: number): string {
  const within = rollout.kind === "failed" ? "" : ` in ${formatDuration(wait)}`;
  return `Cannot get function "${name}" ready${within}: ${rollout.message}`;
}

/** Replicas of an older deployment go on as long as no new one is ready. */
function old(view: FunctionView, written: DesiredFunction): string {
  const serving = view.endpoints(written)?.addresses.length ?? 0;
  return written.generation === 1 || serving === 0 ? "" : " (calls are still served by the deployment before)";
}

function quoted(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.join("\n")}`;
}
