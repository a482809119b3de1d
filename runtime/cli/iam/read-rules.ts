import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

import type { IamFault, PlacedIamDocument } from "../../api/iam/accept-iam-documents.ts";
import { iamFileLimit, isIamFile } from "../../api/iam/iam-files.ts";
import { readIamDocuments } from "../../api/iam/read-iam-documents.ts";
import { usageError } from "../cli-error.ts";
import { pathState, readTextFile } from "../project/read-text-file.ts";

/** What is in files of rules. */
export interface FoundRules {
  readonly documents: readonly PlacedIamDocument[];
  /** Of documents that no schema admits. */
  readonly faults: readonly IamFault[];
  /** Number of files. */
  readonly files: number;
}

/**
 * Reads files, and the files of directories that a gateway would read there. Places are relative to `current`.
 * @throws CliError when a file cannot be read, or a directory has none
 */
export async function readRules(paths: readonly string[], current: string): Promise<FoundRules> {
  const files = new Set<string>();
  for (const path of paths) for (const file of await filesAt(path, current)) files.add(file);
  const documents: PlacedIamDocument[] = [];
  const faults: IamFault[] = [];
  for (const file of files) {
    const shown = relative(current, file);
    const found = await readTextFile(file, iamFileLimit - 1);
    if (found.kind === "refused") throw usageError(`Cannot read "${shown}": ${found.state}`);
    for (const read of readIamDocuments(found.text)) {
      const place = `${shown}:${read.line}`;
      if (read.document !== undefined) documents.push({ ...read.document, place });
      else faults.push({ subject: read.subject ?? `file "${shown}"`, place, sentence: read.sentence });
    }
  }
  return { documents, faults, files: files.size };
}

async function filesAt(path: string, current: string): Promise<readonly string[]> {
  const whole = resolve(current, path);
  try {
    if (!(await stat(whole)).isDirectory()) return [whole];
    const names = (await readdir(whole)).filter(isIamFile).toSorted();
    if (names.length > 0) return names.map((name) => join(whole, name));
  } catch (err) {
    throw usageError(`Cannot read "${path}": ${pathState(err)}`);
  }
  throw usageError(`Cannot check "${path}": there is no YAML file in it`);
}
