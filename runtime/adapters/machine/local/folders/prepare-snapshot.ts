import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";

import { formatDuration } from "../../../../api/duration.ts";
import { prepareFailure } from "../../../../core/folders/folder-failure.ts";
import type { FunctionRef } from "../../../../core/functions/function-ref.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { endedLogSize, textsIn, type EndedLogs } from "../../../replica-logs/ended-logs.ts";
import { functionCommand, type FunctionCommandParts } from "../function-command.ts";
import { logDirectory } from "../logs/log-files.ts";
import { ReplicaLog } from "../logs/replica-log.ts";
import { killProcessesOf } from "../processes-of-replica.ts";
import type { RunDirectory } from "../run-directory.ts";
import { reportIn } from "../watchdog-report.ts";

/** What the preparation of snapshots depends on. */
export interface PrepareParts extends FunctionCommandParts {
  readonly run: RunDirectory;
  readonly logs: string;
  readonly endedLogs: EndedLogs;
  /** Environment of our own program, which is not the commands'. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  /** Milliseconds that all commands of a folder together may take. */
  readonly timeout: number;
  /** Environment of the commands, beside `HOME` and `TMPDIR`. */
  readonly environment: Readonly<Record<string, string>>;
}

/** One preparation. */
export interface PrepareOptions extends FunctionRef {
  readonly commands: readonly string[];
  /** The snapshot; the user may write there. */
  readonly directory: string;
  /** Undefined = the user of this process. */
  readonly user: number | undefined;
  /** The function's home directory. */
  readonly home: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** In a package the sources are compiled: its file ends as this one does. */
const program = join(import.meta.dirname, `../../../../watchdog/prepare/main${extname(import.meta.filename)}`);
/** Milliseconds for which processes that left their group may hold the output open. */
const pipesTimeout = 1_000;

/**
 * Runs commands in a snapshot, as the function's user and with the restrictions of its replicas, but without its
 * secrets and envVars: what they make depends on the content alone. Their output is a log of the function of its own.
 * The result is why they failed, if they did. No process of theirs is left.
 */
export async function prepareSnapshot(
  parts: PrepareParts,
  options: PrepareOptions,
): Promise<ReplicaFailure | undefined> {
  const { run, logs, endedLogs } = parts;
  const { name, namespace, user } = options;
  const id = `${name}-prepare-${randomBytes(5).toString("hex")}`;
  const directory = join(run.replicas, id);
  const mounts = { stage: `${directory}.var`, view: `${directory}.none` };
  const directories = [directory, mounts.stage, mounts.view];
  const log = await ReplicaLog.open(join(logDirectory(logs, options), id));
  try {
    for (const path of directories) await mkdir(path, { mode: 0o700 });
    if (user !== undefined) await chown(directory, user, user);
    const state = await runCommands(parts, options, { directory, mounts, log });
    const written = await log.end(endedLogSize);
    // A full disk costs log lines and nothing else.
    await endedLogs.keep({ name, namespace }, id, written).catch(() => {});
    return state === undefined ? undefined : prepareFailure(state, textsIn(written));
  } finally {
    await log.remove();
    for (const path of directories) await rm(path, { recursive: true, force: true });
  }
}

interface Place {
  readonly directory: string;
  readonly mounts: { readonly stage: string; readonly view: string };
  readonly log: ReplicaLog;
}

/** Why they failed, as the state in an error sentence. */
async function runCommands(
  parts: PrepareParts,
  { commands, directory: folder, user, home, signal }: PrepareOptions,
  { directory, mounts, log }: Place,
): Promise<string | undefined> {
  const [file = "", ...args] = functionCommand(parts, {
    program: [program, "--", ...commands],
    user,
    mounts: { ...mounts, folder: { path: folder, writable: true } },
  });
  const child = spawn(file, args, {
    cwd: folder,
    env: parts.programEnvironment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const over = AbortSignal.any([signal, AbortSignal.timeout(parts.timeout)]);
  const end = (): void => killGroup(child.pid);
  over.addEventListener("abort", end);
  let reported: string | undefined;
  child.on("message", (message) => {
    const report = reportIn(message);
    if (report !== undefined && "failure" in report) reported = report.failure.message;
  });
  const outputs = [child.stdout, child.stderr].filter((output) => output !== null);
  if (child.stdout !== null) log.take(child.stdout, "stdout");
  if (child.stderr !== null) log.take(child.stderr, "stderr");
  // It may end before it has read this.
  if (child.pid !== undefined)
    child.send({ environment: { ...parts.environment, HOME: home, TMPDIR: directory } }, () => {});
  if (over.aborted) end();
  const exit = await once(child, "exit").catch((err: unknown) => String(err));
  over.removeEventListener("abort", end);
  end();
  await killProcessesOf(directory, user);
  const timer = setTimeout(() => {
    for (const output of outputs) output.destroy();
  }, pipesTimeout);
  await log.close();
  clearTimeout(timer);
  if (signal.aborted) return "it was given up";
  if (over.aborted) return `its commands took longer than ${formatDuration(parts.timeout)}`;
  if (typeof exit === "string") return `its commands cannot be run: ${exit}`;
  const [code] = exit as [number | null];
  return code === 0
    ? undefined
    : (reported ?? `its commands ended with ${code === null ? "a signal" : `code ${code}`}`);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}
