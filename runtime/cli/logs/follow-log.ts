import { setTimeout as pause } from "node:timers/promises";

import type { LogRecord } from "../../api/schemas/log-record.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { exitCode } from "../exit-code.ts";
import { BrokenStream, ndjsonValues } from "./ndjson-values.ts";
import { SeenLines } from "./seen-lines.ts";

/** Which lines of a function's log. */
interface LogSelection {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly instance: string | undefined;
  /** Most lines of each replica. */
  readonly tail: number | undefined;
  /** Unix milliseconds. */
  readonly since: number | undefined;
  readonly follow: boolean;
  /** Id of a call: only its lines. */
  readonly call?: string | undefined;
}

/** What reading a log depends on. */
interface LogPatience {
  /** Milliseconds for which a gateway that went away may be away. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Is told that the stream broke and is taken up again. */
  readonly onBreak: () => void;
  readonly now?: () => number;
}

/** Milliseconds without a byte after which a connection is dead; a gateway sends something every 15 s. */
const idleTimeout = 45_000;
/** Milliseconds between the attempts to take a stream up again: at first, and at most. */
const firstPause = 250;
const longestPause = 5_000;
/** Milliseconds that are read again after a break: lines of several replicas come a little out of order. */
const overlap = 10_000;

/**
 * The lines of a log as they come. After a break it goes on where it was, without a line twice; followed, it ends when
 * the function is gone.
 * @throws CliError when the gateway refuses, cannot be reached at first, or stays away
 */
export async function* followLog(
  gateway: GatewayClient,
  selection: LogSelection,
  { timeout, signal, onBreak, now = () => performance.now() }: LogPatience,
): AsyncGenerator<LogRecord> {
  const seen = new SeenLines();
  let opened: number | undefined;
  let awaySince: number | undefined;
  for (let attempt = 0; ; attempt++) {
    try {
      seen.beginStream();
      const query = queryOf(selection, seen.last);
      const { body } = await gateway.accepted("GET", "/system/logs", { query, idleTimeout });
      opened = now();
      // A function may be silent for as long as it likes; a log that ends by itself must come nearer to its end.
      if (selection.follow) awaySince = undefined;
      for await (const value of ndjsonValues(body)) {
        if (!isLogRecord(value)) throw noRecord(selection);
        if (!seen.isNew(value)) continue;
        attempt = 0;
        awaySince = undefined;
        yield value;
      }
      if (!selection.follow) return;
    } catch (err) {
      if (signal.aborted) throw err;
      if (opened !== undefined && isGone(err)) return;
      if (opened !== undefined && now() - opened > longestPause) attempt = 0;
      awaySince ??= now();
      if (opened === undefined || !isBreak(err) || now() - awaySince > timeout) throw asCliError(err, selection);
      if (attempt === 0) onBreak();
    }
    await pause(Math.min(longestPause, firstPause * 2 ** attempt), undefined, { signal });
  }
}

/** The query for the rest of a log of which `last` is the latest line that was shown. */
export function queryOf(
  { call, follow, instance, name, namespace, since, tail }: LogSelection,
  last: string | undefined,
): Readonly<Record<string, string | number | boolean | undefined>> {
  const from = last === undefined ? since : Math.max(since ?? 0, Date.parse(last) - overlap);
  return {
    name,
    namespace,
    instance,
    call,
    follow,
    tail: last === undefined ? tail : undefined,
    since: from === undefined ? undefined : new Date(from).toISOString(),
  };
}

function isGone(err: unknown): boolean {
  return err instanceof CliError && (err.code === "function_not_found" || err.code === "namespace_not_found");
}

/** Whether it may be better later. */
function isBreak(err: unknown): boolean {
  if (err instanceof CliError) return err.exit === exitCode.unavailable || err.exit === exitCode.timeout;
  return err instanceof BrokenStream;
}

function asCliError(err: unknown, { name }: LogSelection): unknown {
  if (!(err instanceof BrokenStream)) return err;
  return new CliError(exitCode.unavailable, `Cannot read the log of function "${name}": ${err.message}`, {
    cause: err,
  });
}

/** Whether a value has what a line of a log needs. */
export function isLogRecord(value: unknown): value is LogRecord {
  const { instance, text, timestamp } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof instance === "string" && typeof text === "string" && typeof timestamp === "string";
}

function noRecord({ name }: LogSelection): CliError {
  return new CliError(exitCode.failed, `Cannot read the log of function "${name}": a line of it is no log record`);
}
