import { dirname, relative } from "node:path";

import { usageError } from "../cli-error.ts";
import { keyProblems } from "./check-keys.ts";
import { schemaProblems } from "./check-schema.ts";
import { entryAt, plainValue, type Located } from "./located.ts";
import { problemsError, type ProjectProblem } from "./problem.ts";
import { findProjectFile, mostProjectBytes, projectFileName } from "./project-head.ts";
import { ProjectFile } from "./project-schema.ts";
import type { Project } from "./project.ts";
import { readFunctionFiles } from "./read-function-files.ts";
import { readLocated } from "./read-located.ts";
import { readTextFile } from "./read-text-file.ts";
import { readVariables, type VariableSources } from "./read-variables.ts";
import { replaceVariables } from "./replace-variables.ts";

export interface ReadProjectOptions extends VariableSources {
  /** Where the command runs; the `weir.yaml` is here or above. */
  readonly directory: string;
}

/**
 * Reads and checks the `weir.yaml` of a directory, and the files that it names.
 * @throws CliError exit code 2, with all problems, a line each
 */
export async function readProject(options: ReadProjectOptions): Promise<Project> {
  const file = await findProjectFile(options.directory);
  if (file === undefined)
    throw usageError(`Cannot find "${projectFileName}": it is neither here nor above`, "weir init");
  const shown = relative(options.directory, file);
  const read = await readTextFile(file, mostProjectBytes);
  if (read.kind === "refused") throw usageError(`Cannot read "${shown}": ${read.state}`);
  const written = readLocated(read.text);
  if (!written.wellFormed) throw problemsError(shown, read.text, written.problems);
  if (written.root === undefined || entryAt(written.root, "functions") === undefined)
    throw usageError(`Cannot read "${shown}": it has no "functions"; settings of the platform are given with --config`);
  const { root, problems } = replaceVariables(written.root, await readVariables(options.directory, options));
  const directory = dirname(file);
  const functions = await checkFunctions(root, directory);
  const all = [...written.problems, ...problems, ...schemaProblems(root, ProjectFile), ...functions.problems];
  if (all.length > 0) throw problemsError(shown, read.text, all);
  return { file, directory, content: plainValue(root) as ProjectFile, environments: functions.environments };
}

async function checkFunctions(
  root: Located,
  directory: string,
): Promise<{ readonly problems: readonly ProjectProblem[]; readonly environments: Project["environments"] }> {
  const functions = entryAt(root, "functions")?.value;
  const problems: ProjectProblem[] = [];
  const environments: [string, Readonly<Record<string, string>>][] = [];
  for (const [name, { value }] of functions?.kind === "map" ? functions.entries : []) {
    const path = ["functions", name];
    problems.push(...keyProblems(value, path));
    const files = await readFunctionFiles(value, path, directory);
    problems.push(...files.problems);
    if (Object.keys(files.environment).length > 0) environments.push([name, files.environment]);
  }
  return { problems, environments: Object.fromEntries(environments) };
}
