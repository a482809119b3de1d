import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

import { eventually } from "./eventually.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { say } from "./say.ts";
import { tempDirectory } from "./temp-directory.ts";

/**
 * An ext4 file system whose power can be cut: what was not synced is gone. Only processes in the mount namespace of
 * `pid` see it.
 */
export interface PowerCutDisk extends AsyncDisposable {
  /** A process that holds the mount namespace. */
  readonly pid: number;
  /** Where it is mounted, in that namespace. */
  readonly path: string;
  /** The path of a file of it, for processes outside. */
  seen(...names: readonly string[]): string;
  /** A directory for temporary files, on another disk, which functions can reach. */
  readonly temporary: string;
  /** Writes all that is in use to the disk. */
  sync(): void;
  /** Cuts the power, ends every process that uses it, and switches it on again. */
  cut(): Promise<void>;
}

const imageSize = "2G";
/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing more reaches the disk, the journal neither. */
const shutDown = 'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!;';

/** Opens one; prints that `what` is skipped and resolves with undefined where this machine does not allow it. */
export async function openPowerCutDisk(what: string): Promise<PowerCutDisk | undefined> {
  const skip = (reason: string): undefined => {
    say(`${what} are skipped: ${reason}`);
    return undefined;
  };
  if (process.platform !== "linux" || process.getuid?.() !== 0) return skip("they need Linux and root");
  const directory = await tempDirectory("power");
  const [image, path, temporary] = ["disk.img", "disk", "tmp"].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ];
  // Users of functions reach what is below.
  chmodSync(directory.path, 0o711);
  for (const each of [path, temporary]) mkdirSync(each, { mode: 0o711 });
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "cat"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  killAtExit(holder);
  const close = async (): Promise<void> => {
    await endAll(holder, path);
    holder.kill("SIGKILL");
    await eventually(() => holder.exitCode !== null || holder.signalCode !== null, { what: "the mounts to be gone" });
    await directory.remove();
  };
  const inside = (...command: readonly string[]): string | undefined => {
    const done = spawnSync("nsenter", ["-t", String(holder.pid), "-m", "--", ...command], { encoding: "utf8" });
    if (done.status === 0) return undefined;
    return `${command.join(" ")}: ${done.error?.message ?? done.stderr.trim()}`;
  };
  const mount = () => inside("mount", "-o", "loop,noatime", image, path);
  const isApart = () => holder.pid !== undefined && mountsOf(holder.pid) !== mountsOf(process.pid);
  await eventually(() => isApart() || holder.exitCode !== null, { what: "a mount namespace" });
  const trouble =
    (isApart() ? undefined : "there can be no mount namespace") ??
    inside("truncate", "-s", imageSize, image) ??
    inside("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", image) ??
    mount() ??
    inside("perl", "-e", "1");
  if (trouble !== undefined || holder.pid === undefined) {
    await close();
    return skip(trouble ?? "there can be no process");
  }
  const { pid } = holder;
  const must = (failure: string | undefined): void => {
    if (failure !== undefined) throw new Error(`Cannot cut the power: ${failure}`);
  };
  return {
    pid,
    path,
    temporary,
    seen: (...names) => join(`/proc/${pid}/root`, path, ...names),
    sync: () => must(inside("sync", "-f", path)),
    cut: async () => {
      must(inside("perl", "-e", shutDown, path));
      await endAll(holder, path);
      let busy: string | undefined;
      await eventually(() => (busy = inside("umount", path)) === undefined, { what: `the disk to be free (${busy})` });
      must(mount());
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Ends all processes that see the disk, but `holder`: functions have mount namespaces of their own. */
async function endAll(holder: ChildProcess, path: string): Promise<void> {
  await eventually(
    () => {
      const found = livingPids().filter((pid) => pid !== holder.pid && sees(pid, path));
      for (const pid of found) endProcess(pid);
      return found.length === 0;
    },
    { what: "the processes that see the disk to be gone" },
  );
}

function livingPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function sees(pid: number, path: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(` ${path} `);
  } catch {
    return false;
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function mountsOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}
