import { readFile, rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { runCommand } from "./run-command.ts";

const stopTimeout = 8_000;
const killTimeout = 5_000;
const poll = 50;
const psTimeout = 10_000;

/**
 * Stops the server that a killed host left behind: the process of the pid file, if it really runs with our
 * configuration file. Also removes the pid file. True when there was such a server.
 */
export async function stopLeftoverNatsServer(pidFile: string, configFile: string): Promise<boolean> {
  const pid = await readPid(pidFile);
  if (pid === undefined) return false;
  const ours = await isOurs(pid, configFile);
  if (ours) await stopProcess(pid, configFile);
  await rm(pidFile, { force: true });
  return ours;
}

/** Ends the process with SIGTERM, after 8 s with SIGKILL, and waits until it is gone. */
async function stopProcess(pid: number, configFile: string): Promise<void> {
  signal(pid, "SIGTERM");
  if (await isGone(pid, configFile, stopTimeout)) return;
  signal(pid, "SIGKILL");
  if (await isGone(pid, configFile, killTimeout)) return;
  throw new PlatformError(
    "queue_unavailable",
    `Cannot start nats-server: the old one (process ${pid}) does not exit; kill it`,
  );
}

async function isGone(pid: number, configFile: string, within: number): Promise<boolean> {
  const deadline = performance.now() + within;
  while (await isOurs(pid, configFile)) {
    if (performance.now() > deadline) return false;
    await pause(poll);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It may have ended by itself; the caller checks that next.
  }
}

/** A zombie has no command line, so it counts as gone. */
async function isOurs(pid: number, configFile: string): Promise<boolean> {
  return (await commandLine(pid)).includes(`-c ${configFile}`);
}

async function readPid(file: string): Promise<number | undefined> {
  try {
    const pid = Number((await readFile(file, "utf8")).trim());
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Command line of a running process, words separated by spaces; empty when it is gone. */
async function commandLine(pid: number): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  } catch {
    const listed = await runCommand("ps", ["-o", "command=", "-p", String(pid)], {
      environment: { PATH: "/bin:/usr/bin" },
      timeout: psTimeout,
    });
    return listed.stdout;
  }
}
