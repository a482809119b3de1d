import { dirname, resolve } from "node:path";

import { mostText } from "../../../api/schemas/key-rules.ts";
import { usageError } from "../../cli-error.ts";
import { importFiles, type ImportResult } from "../../moves/import/import-files.ts";
import type { MoveRow } from "../../moves/report/move-report.ts";
import { keyProblems } from "../../project/check-keys.ts";
import { schemaProblems } from "../../project/check-schema.ts";
import { parseEnvironmentFile } from "../../project/environment-file.ts";
import { entryAt, plainValue } from "../../project/located.ts";
import { problemsError } from "../../project/problem.ts";
import { findProjectPath } from "../../project/project-path.ts";
import { ProjectFile } from "../../project/project-schema.ts";
import type { Project } from "../../project/project.ts";
import { readLocated } from "../../project/read-located.ts";
import { readTextFile } from "../../project/read-text-file.ts";
import { readVariables, type VariableSources } from "../../project/read-variables.ts";
import { replaceVariables } from "../../project/replace-variables.ts";

/** A stack file as the project that `weir import` would make of it. */
interface ReadStack {
  readonly project: Project;
  /** A sentence for each field that is left out. */
  readonly left: readonly string[];
}

/** Most bytes of a stack file. */
const mostBytes = 5 * 1024 * 1024;

/**
 * Reads an OpenFaaS stack file, relative to the working directory; nothing is written.
 * @throws CliError when it is none, or what it says cannot be deployed
 */
export async function readStack(directory: string, file: string, sources: VariableSources): Promise<ReadStack> {
  const path = resolve(directory, file);
  const base = dirname(path);
  const read = await readTextFile(path, mostBytes);
  if (read.kind === "refused") throw usageError(`Cannot read "${file}": ${read.state}`);
  const input = { file, text: read.text, directory: base };
  const imported = await importFiles([input], { directory: base, renameKeys: false });
  const text = imported.project;
  const left = imported.rows.flatMap(leftOut);
  if (text === undefined)
    throw usageError([...left, `Cannot deploy "${file}": it has no function that can be deployed`].join("\n"));
  const written = readLocated(text);
  if (written.root === undefined) throw problemsError(file, text, written.problems);
  const { root, problems } = replaceVariables(written.root, await readVariables(directory, sources));
  const functions = entryAt(root, "functions")?.value;
  const names = functions?.kind === "map" ? [...functions.entries] : [];
  const ofKeys = names.flatMap(([name, { value }]) => [...keyProblems(value, ["functions", name])]);
  const all = [...written.problems, ...problems, ...schemaProblems(root, ProjectFile), ...ofKeys];
  if (all.length > 0) throw problemsError(file, text, all);
  const content = plainValue(root) as ProjectFile;
  const environments = await environmentsOf(content, base, imported);
  return { project: { file: path, directory: base, content, environments }, left };
}

/** Its environment files: those that the import would write are in its result, others are read. */
async function environmentsOf(
  { functions }: ProjectFile,
  directory: string,
  { files }: ImportResult,
): Promise<Project["environments"]> {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const environments: [string, Readonly<Record<string, string>>][] = [];
  for (const [name, { environmentFiles = [] }] of Object.entries(functions)) {
    let values: Readonly<Record<string, string>> = {};
    for (const path of environmentFiles) {
      const text = texts.get(path) ?? (await textOfFile(directory, path));
      values = { ...values, ...parseEnvironmentFile(text).values };
    }
    environments.push([name, values]);
  }
  return Object.fromEntries(environments);
}

async function textOfFile(directory: string, path: string): Promise<string> {
  const found = await findProjectPath(directory, path, "file");
  const read = found.kind === "found" ? await readTextFile(found.path, mostText) : found;
  if (read.kind === "text") return read.text;
  throw usageError(`Cannot read environment file "${path}": ${read.state}`);
}

function leftOut(row: MoveRow): readonly string[] {
  if (row.result !== "not supported") return [];
  const instead = row.instead === undefined ? "" : `; instead: ${row.instead}`;
  return [`${row.file}:${row.line}: ${row.field} is left out: ${row.why}${instead}`];
}
