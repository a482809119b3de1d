import { readFile, writeFile } from "node:fs/promises";

import { format } from "oxfmt";

/** A file that is generated from the sources. */
export interface WrittenFile {
  /** Below the repository. */
  readonly path: string;
  readonly text: string;
}

/**
 * A file in the format of the repository.
 * @throws Error when its text does not match the extension of its name
 */
export async function formattedFile(path: string, text: string): Promise<WrittenFile> {
  const { code, errors } = await format(path, text, { printWidth: 120 });
  if (errors.length > 0) throw new Error(`Cannot format ${path}: ${errors.map(({ message }) => message).join("; ")}`);
  return { path, text: code };
}

/** The files that differ from those in the repository. */
export async function staleAmong(files: readonly WrittenFile[], root: URL): Promise<WrittenFile[]> {
  const stale: WrittenFile[] = [];
  for (const file of files) {
    const text = await readFile(new URL(file.path, root), "utf8").catch(() => "");
    if (text !== file.text) stale.push(file);
  }
  return stale;
}

/** Writes the stale files; with `check` it only reports them, and the process exits with 1. */
export async function writeOrCheck(
  files: readonly WrittenFile[],
  root: URL,
  { check, command }: { readonly check: boolean; readonly command: string },
): Promise<void> {
  for (const { path, text } of await staleAmong(files, root)) {
    if (check) {
      process.stderr.write(`${path} is stale: run ${command}\n`);
      process.exitCode = 1;
    } else {
      await writeFile(new URL(path, root), text);
      process.stderr.write(`${path} written\n`);
    }
  }
}
