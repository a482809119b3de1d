import { folderDirectory } from "../../../api/names.ts";
import type { Confinement } from "./confinement.ts";
import { withSecretMount, type FunctionMounts } from "./secret-mount.ts";

/** How the programs are run that run a function's code. */
export interface FunctionCommandParts {
  /** The Node.js program. */
  readonly node: string;
  readonly confinement: Confinement;
  /** Mounts are possible. */
  readonly mountsSecrets: boolean;
}

/** One program of ours that runs code of a function. */
export interface FunctionCommand {
  /** Its file, and what it is started with. */
  readonly program: readonly [file: string, ...args: string[]];
  /** Undefined = the user of this process. */
  readonly user: number | undefined;
  readonly mounts: FunctionMounts;
}

/** The command line that runs the program with fewer privileges, and has it run the function's code as its user. */
export function functionCommand(parts: FunctionCommandParts, { program, user, mounts }: FunctionCommand): string[] {
  const { node, confinement, mountsSecrets } = parts;
  const [file, ...args] = program;
  const folder = mounts.folder && (mountsSecrets ? folderDirectory : mounts.folder.path);
  const flags = [
    ...(folder === undefined ? [] : ["--run-folder", folder]),
    ...(user === undefined ? [] : ["--run-as", `${user}:${user}`]),
    ...(confinement.inner.length === 0 ? [] : ["--exec-prefix", confinement.inner.join(" ")]),
  ];
  const command = confinement.wrap([node, file, ...flags, ...args]);
  return mountsSecrets ? withSecretMount(mounts, command) : command;
}
