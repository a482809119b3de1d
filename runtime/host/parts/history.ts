import { dirname, extname, join } from "node:path";

import { engineAddress } from "../../adapters/machine/docker/engine/docker-socket.ts";
import { historySocket } from "../../api/schemas/history/history-wire.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import { formatDuration } from "../../api/duration.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../disk/durable-files.ts";
import type { Log } from "../../process/log.ts";
import { dockerHost } from "../../process/machine-facts.ts";
import { environment } from "../../process/settings.ts";
import type { Broker } from "./broker.ts";
import type { ChosenEngine } from "./engine.ts";
import { HistoryChild } from "./history-child.ts";
import { logHistoryLine, reasonOfEnd } from "./history-lines.ts";
import type { HostStart } from "./host-start.ts";
import type { HostPlace } from "./place.ts";

/** The history process, which is not started yet. */
export interface HostHistory {
  /** Path of its socket; undefined = there is no history. */
  readonly historyAddress: string | undefined;
  /** Starts it, to follow logs as these flags say; nothing waits for it. */
  readonly startHistory: (logFlags: readonly string[]) => void;
}

type Given = HostStart & HostPlace & Broker;

const notRunning = "the history of calls does not run";

const program = join(import.meta.dirname, `../../history/main${extname(import.meta.filename)}`);

/** While it catches up, a heap without limits grows to twice the memory, and is not faster; nor is it with more threads. */
export const historyMemoryFlags = ["--max-semi-space-size=1", "--max-old-space-size=64", "--v8-pool-size=1"];
/** The same of memory that is not JavaScript's: threads share it. */
export const historyMemoryEnvironment = { MALLOC_ARENA_MAX: "1" } as const;

/**
 * Prepares the history process, a child of this one. Opened early, so that it ends late: after the gateway that asks it,
 * before the broker. Never rejects: without a history everything else works.
 */
export async function openHistory(given: Given): Promise<HostHistory> {
  const log = given.log.child({ part: "history" });
  if (!given.settings.history) return { historyAddress: undefined, startHistory: () => {} };
  const socket = join(given.layout.root, ...historySocket);
  const command = [process.execPath, ...historyMemoryFlags, program];
  try {
    command.push(...(await prepare(given, dirname(socket))));
  } catch (err) {
    log.warn({ reason: err instanceof Error ? err.message : String(err) }, notRunning);
    return { historyAddress: socket, startHistory: () => {} };
  }
  const child = childOf(command, dirname(socket), log);
  given.lifecycle.onClose("history", () => child.close());
  given.lifecycle.onEndNow("history", () => child.endNow());
  return { historyAddress: socket, startHistory: (logFlags) => child.start(logFlags) };
}

/** Starts the history, once everything else is ready: its start takes processor time from nothing. */
export async function beginHistory(given: HostStart & HostPlace & HostHistory & ChosenEngine): Promise<object> {
  const { startHistory, providerName, layout, settings } = given;
  const engine = providerName === "docker" ? engineAddress(settings.dockerSocket, dockerHost()) : undefined;
  startHistory(flagsOf({ "log-provider": providerName, "log-data": layout.root, "log-engine": engine }));
  return {};
}

function childOf(command: readonly string[], directory: string, log: Log): HistoryChild {
  const { NODE_COMPILE_CACHE, TZ } = environment();
  let reported: string | undefined;
  return new HistoryChild({
    command,
    directory,
    environment: { ...historyMemoryEnvironment, NODE_COMPILE_CACHE, TZ },
    onLine: (line) => logHistoryLine(log, line),
    onEnd: ({ how, lastLine, wasStable, restartIn }) => {
      const reason = reasonOfEnd(lastLine, how);
      // Once: it is started again until it runs.
      if (wasStable || reason !== reported) log.warn({ reason, restartIn }, notRunning);
      reported = reason;
    },
  });
}

/** Makes its directory, with the password of its broker user; resolves with its flags. */
async function prepare({ settings, nats }: Given, directory: string): Promise<readonly string[]> {
  await makeDirectoryDurably(directory);
  const passwordFile = join(directory, "nats-password");
  await writeFileDurably(passwordFile, `${nats.access(natsUser.history).password}\n`);
  const flags = {
    "nats-url": nats.url,
    "nats-user": natsUser.history,
    "nats-password-file": passwordFile,
    "nats-ping-interval": formatDuration(settings.natsPingInterval),
    "nats-monitor-url": nats.monitorUrl,
    "lease-ttl": formatDuration(settings.leaseTtl),
    "history-dir": directory,
    "history-age": formatDuration(settings.historyAge),
    "history-calls-max": settings.historyCallsMax,
    "history-bytes": settings.historyBytes,
    "kept-logs": settings.keptLogs,
    "kept-log-age": formatDuration(settings.keptLogAge),
    "kept-log-bytes": settings.keptLogBytes,
    "kept-log-function-bytes": settings.keptLogFunctionBytes,
    "function-namespace": settings.functionNamespace,
    // Nobody asks it here. A port would be one more that functions and callbacks must not reach.
    "admin-host": "./admin.sock",
    "headers-timeout": formatDuration(settings.headersTimeout),
    "log-level": settings.logLevel,
    "stop-with-input": true,
  };
  return flagsOf(flags);
}

function flagsOf(flags: Readonly<Record<string, string | number | boolean | undefined>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}
