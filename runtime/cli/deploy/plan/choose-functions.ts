import { resolve } from "node:path";

import { mostText } from "../../../api/schemas/key-rules.ts";
import { usageError } from "../../cli-error.ts";
import { projectFunction } from "../../project/deployment-of.ts";
import { parseEnvironmentFile } from "../../project/environment-file.ts";
import { findProjectFile } from "../../project/project-head.ts";
import type { Project } from "../../project/project.ts";
import { readProject } from "../../project/read-project.ts";
import { readTextFile } from "../../project/read-text-file.ts";
import type { Terminal } from "../../terminal.ts";
import { applyFlags, givenFlags, type DeployFlags } from "./deploy-flags.ts";

/** A project, and those of its functions that are meant. */
export interface ChosenFunctions {
  readonly project: Project;
  readonly names: readonly string[];
  /** What a stack file says and cannot be deployed, a sentence each. */
  readonly left: readonly string[];
}

/** Options that say which functions are meant, and where values come from. */
export interface ChoiceOptions {
  /** Names, also several in one with commas. */
  readonly only?: readonly string[];
  readonly envFile?: readonly string[];
  /** A stack file in place of `weir.yaml`. */
  readonly file?: string;
}

/** Where the command runs. */
type Place = Pick<Terminal, "directory" | "environment">;

/**
 * The functions of the project that are named, else all.
 * @throws CliError when there is no project, or no such function
 */
export async function chooseFunctions(
  place: Place,
  named: readonly string[],
  options: ChoiceOptions,
): Promise<ChosenFunctions> {
  const { project, left } = await readHere(place, options);
  const names = namesOf(named, options);
  for (const name of names) projectFunction(project, name);
  return { project, left, names: names.length === 0 ? Object.keys(project.content.functions) : names };
}

/**
 * The same where flags may describe one function: they change that of the project, or are all there is of it.
 * @throws CliError also when flags are given for several functions, or the function has no image
 */
export async function chooseDescribed(
  place: Place,
  named: readonly string[],
  options: ChoiceOptions & DeployFlags,
): Promise<ChosenFunctions> {
  const given = givenFlags(options);
  if (given.length === 0) return chooseFunctions(place, named, options);
  const names = namesOf(named, options);
  const [name, ...others] = names;
  if (name === undefined || others.length > 0)
    throw usageError(`Cannot use ${given.join(", ")}: name the one function to deploy`, "weir deploy --help");
  const isProject = options.file !== undefined || (await findProjectFile(place.directory)) !== undefined;
  const { project, left } = isProject ? await readHere(place, options) : emptyProject(place.directory);
  if (Object.hasOwn(project.content.functions, name))
    return {
      names,
      left,
      project: withFunction(project, name, applyFlags(projectFunction(project, name), options, {})),
    };
  // Without --image the function must be one of the project: say that it is not, and which one may be meant.
  if (options.image === undefined && isProject) projectFunction(project, name);
  if (options.image === undefined)
    throw usageError(`Cannot deploy "${name}": there is no weir.yaml, and no --image`, "weir init");
  const environment = await environmentOf(place.directory, options.envFile);
  return { names, left, project: withFunction(project, name, applyFlags({}, options, environment)) };
}

async function readHere(
  { directory, environment }: Place,
  { envFile, file }: ChoiceOptions,
): Promise<Omit<ChosenFunctions, "names">> {
  const sources = { environment, environmentFiles: envFile };
  if (file === undefined) return { project: await readProject({ directory, ...sources }), left: [] };
  const { readStack } = await import("./read-stack.ts");
  return readStack(directory, file, sources);
}

function namesOf(named: readonly string[], { only = [] }: ChoiceOptions): readonly string[] {
  const listed = only.flatMap((each) => each.split(",")).map((each) => each.trim());
  return [...new Set([...named, ...listed.filter((each) => each !== "")])];
}

function emptyProject(directory: string): Omit<ChosenFunctions, "names"> {
  return { left: [], project: { file: "", directory, content: { version: 1, functions: {} }, environments: {} } };
}

function withFunction(project: Project, name: string, definition: Project["content"]["functions"][string]): Project {
  const { content } = project;
  return { ...project, content: { ...content, functions: { ...content.functions, [name]: definition } } };
}

/** `--env-file` as the environment of a function that only flags describe; the last of several values wins. */
async function environmentOf(
  directory: string,
  names: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const file = await readTextFile(resolve(directory, name), mostText);
    const parsed = file.kind === "text" ? parseEnvironmentFile(file.text) : { values: {}, states: [file.state] };
    if (parsed.states.length > 0) throw usageError(`Cannot read "${name}" of --env-file: ${parsed.states.join("; ")}`);
    Object.assign(values, parsed.values);
  }
  return values;
}
