import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { secretDirectories } from "../../../api/names.ts";

const script = join(import.meta.dirname, "secret-mount.sh");
const run = promisify(execFile);
const probeTimeout = 10_000;

/** What a command finds mounted. */
export interface FunctionMounts {
  /** An empty directory. */
  readonly stage: string;
  /** Has the files for both secret paths. */
  readonly view: string;
  /** Is mounted at `folderDirectory`, where the command then works. */
  readonly folder?: { readonly path: string; readonly writable: boolean } | undefined;
}

/** The command line that runs `command` with these mounts. */
export function withSecretMount({ stage, view, folder }: FunctionMounts, command: readonly string[]): string[] {
  const mounted = folder === undefined ? ["", ""] : [fstabText(folder.path), folder.writable ? "rw" : "ro"];
  return ["unshare", "--mount", "--propagation", "private", "/bin/sh", script, stage, view, ...mounted, ...command];
}

/** A path as a field of fstab(5). */
function fstabText(path: string): string {
  return path.replaceAll(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** Whether this process can mount secrets at both paths; tried below `directory`, which is left as it was. */
export async function canMountSecrets(directory: string): Promise<boolean> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const stage = join(directory, "mount-stage");
  const view = join(directory, "mount-view");
  try {
    await mkdir(stage);
    await mkdir(view);
    await writeFile(join(view, "probe"), "");
    const checks = secretDirectories.map((path) => ["test", "-f", `${path}/probe`].join(" ")).join(" && ");
    const [program = "", ...args] = withSecretMount({ stage, view }, ["/bin/sh", "-c", checks]);
    await run(program, args, { timeout: probeTimeout });
    return true;
  } catch {
    return false;
  } finally {
    await rm(stage, { recursive: true, force: true });
    await rm(view, { recursive: true, force: true });
  }
}
