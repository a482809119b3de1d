import { lstat, mkdir, rm, rmdir } from "node:fs/promises";
import { join, relative } from "node:path";

import { writeFileDurably } from "../../../disk/durable-files.ts";
import { usageError } from "../../cli-error.ts";
import { pathState } from "../../project/read-text-file.ts";
import type { TemplateFile } from "../../project/template-files.ts";

export interface NewProject {
  /** Absolute; made if it is not there. */
  readonly directory: string;
  /** Name of its function. */
  readonly name: string;
  readonly files: readonly TemplateFile[];
}

/**
 * Writes the files of a new project. When one of them exists, or one cannot be written, nothing is left there.
 * @param from the working directory: paths in sentences are relative to it
 * @throws CliError
 */
export async function createProject(
  { directory, name, files }: NewProject,
  from: string,
  signal: AbortSignal,
): Promise<void> {
  const shown = (path: string): string => JSON.stringify(relative(from, path) || ".");
  const failure = `Cannot create "${name}"`;
  const paths = files.map((file) => join(directory, file.path));
  const there: string[] = [];
  for (const path of paths) if (await exists(path)) there.push(shown(path));
  const [first] = there;
  if (first !== undefined)
    throw usageError(`${failure}: ${there.join(", ")} ${there.length === 1 ? "exists" : "exist"}`);
  const written: string[] = [];
  let made: string | undefined;
  try {
    made = await mkdir(directory, { recursive: true });
    for (const { path, text } of files) {
      signal.throwIfAborted();
      const file = join(directory, path);
      await writeFileDurably(file, text, { mode: 0o666, replace: false });
      written.push(file);
    }
  } catch (err) {
    for (const file of written) await rm(file, { force: true });
    if (made !== undefined) await rmdir(directory).catch(() => {});
    if (signal.aborted) throw err;
    throw usageError(`${failure}: ${shown(directory)}: ${pathState(err)}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
