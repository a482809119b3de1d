import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { lstat, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";

import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { engineTrouble } from "../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { makeBaseImage } from "../../scripts/base-image/make-base-image.ts";
import { findTool, installedTool } from "../../scripts/debian-tool.ts";
import { endMounts, leftoverMounts } from "../../scripts/test/leftover-mounts.ts";
import { eventually } from "./eventually.ts";
import { machineLock } from "./machine-lock.ts";
import { networkState, restoreNetwork } from "./packet-filter.ts";
import { endProcess, livingProcesses } from "./process-tree.ts";
import { tempDirectory } from "./temp-directory.ts";

/** A real container engine with its own data and socket, but no bridge. */
export interface OwnDockerEngine {
  readonly socket: string;
  /** Sends SIGTERM, waits until it is gone, and starts it again. */
  restart(): Promise<void>;
  /** Sends SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  /** After `kill`. */
  start(): Promise<void>;
  /** Ends it and removes everything, including its packet-filter rules and bridges on this machine. */
  close(): Promise<void>;
}

const startTimeout = 60_000;
const stopTimeout = 30_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let reason: string | undefined | null = null;

/** Why tests with a container engine cannot run here, written to stderr once; undefined if they can. Installs one. */
export function noDockerEngine(): string | undefined {
  if (reason === null) {
    reason = findReason();
    if (reason !== undefined) say(`Skipped: tests with a container engine; ${reason}`);
  }
  return reason;
}

function findReason(): string | undefined {
  if (process.platform !== "linux") return "they need Linux";
  if (process.getuid?.() !== 0) return "starting one needs root";
  if (installedTool("iptables", "iptables", say) === undefined) return '"iptables" is missing';
  if (installedTool("dockerd", "docker.io", say) === undefined) return '"dockerd" is missing';
  return undefined;
}

/** Starts an engine with the base image; waits while another test process of this machine has one. */
export async function startDockerEngine(): Promise<OwnDockerEngine> {
  const lock = await machineLock("docker-engine");
  const foreign = livingProcesses().some(({ command }) => basename(command.split(" ", 1)[0] ?? "") === "dockerd");
  // Restoring the rules would lose some of the other engine's.
  if (foreign) say("Another dockerd runs on this machine: the tests' own one leaves the packet filter alone");
  const directory = await tempDirectory("docker");
  const network = await networkState();
  const settings = await lstat("/etc/docker").catch(() => undefined);
  const cgroup = basename(directory.path);
  const socket = join(directory.path, "docker.sock");
  let child: ChildProcess | undefined;
  const client = new EngineClient(socket);

  const start = async (): Promise<void> => {
    const log = createWriteStream(join(directory.path, "log"), { flags: "a" });
    // Left by a kill; where nobody reaps ended processes, their ids seem to be in use.
    for (const file of ["docker.pid", "exec/containerd/containerd.pid"])
      await rm(join(directory.path, file), { force: true });
    child = spawn(
      "env",
      [
        // On a busy machine dockerd makes containerd write its stacks to the temporary directory.
        `TMPDIR=${directory.path}`,
        // Ends it when the test process ends, in whatever way.
        "setpriv",
        "--pdeathsig",
        "TERM",
        findTool("dockerd") ?? "dockerd",
        "--data-root",
        join(directory.path, "data"),
        "--exec-root",
        join(directory.path, "exec"),
        "--host",
        `unix://${socket}`,
        "--pidfile",
        join(directory.path, "docker.pid"),
        "--bridge",
        "none",
        "--cgroup-parent",
        `/${cgroup}`,
        "--exec-opt",
        "native.cgroupdriver=cgroupfs",
        "--shutdown-timeout",
        "2",
        ...(foreign ? ["--iptables=false"] : []),
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
    const isReady = async (): Promise<boolean> => (await engineTrouble(socket)) === undefined;
    await eventually(isReady, { within: startTimeout, what: "an answer of dockerd", every: 50 });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    if (running?.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, "exit");
    running.kill(signal);
    const timer = setTimeout(() => running.kill("SIGKILL"), stopTimeout);
    await gone;
    clearTimeout(timer);
  };
  const close = async (): Promise<void> => {
    try {
      await client.close();
      await end("SIGTERM");
      for (const left of livingProcesses()) if (left.command.includes(directory.path)) endProcess(left);
      await eventually(() => !livingProcesses().some(({ command }) => command.includes(directory.path)), {
        within: stopTimeout,
        what: "an end of all processes of the engine",
      });
      endMounts(leftoverMounts(directory.path));
      await directory.remove();
      await removeCgroups(cgroup);
      if (settings === undefined) await rm("/etc/docker", { recursive: true, force: true });
      if (!foreign) await restoreNetwork(network);
    } finally {
      await lock.release();
    }
  };

  try {
    await start();
    await makeBaseImage(client);
  } catch (err) {
    const log = await readFile(join(directory.path, "log"), "utf8").catch(() => "");
    await close();
    throw new Error(`Cannot start a container engine for tests; it said last: ${log.slice(-2_000)}`, { cause: err });
  }
  return {
    socket,
    restart: async () => {
      await end("SIGTERM");
      await start();
    },
    kill: () => end("SIGKILL"),
    start,
    close,
  };
}

/** Of the one hierarchy or the several hierarchies that the system has. */
async function removeCgroups(name: string): Promise<void> {
  const root = "/sys/fs/cgroup";
  const roots = [root, ...(await readdir(root)).map((each) => join(root, each))];
  for (const each of roots) await removeCgroup(join(each, name));
}

async function removeCgroup(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeCgroup(join(path, entry.name));
  await rmdir(path).catch(() => {});
}
