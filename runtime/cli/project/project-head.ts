import { access } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import { usageError } from "../cli-error.ts";
import { textAt } from "./located.ts";
import { readTextFile } from "./read-text-file.ts";
import { readVariables, type VariableSources } from "./read-variables.ts";
import { replaceInText } from "./replace-variables.ts";

/** Name of a project's file. */
export const projectFileName = "weir.yaml";
/** Most bytes of it. */
export const mostProjectBytes = 262_144;

/** What a `weir.yaml` says about where it is deployed. */
export interface ProjectHead {
  /** Absolute path. */
  readonly file: string;
  readonly gateway: string | undefined;
  readonly namespace: string | undefined;
}

/** Path of the `weir.yaml` in `directory` or above; undefined when there is none. */
export async function findProjectFile(directory: string): Promise<string | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const file = join(at, projectFileName);
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there) return file;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Gateway and namespace of the project around `directory`, with their variables replaced. Everything else in the file
 * is not checked here: a command that deploys nothing works beside a file with mistakes.
 * @throws CliError when nothing of the file can be read, as another gateway would be used then
 */
export async function projectHead(directory: string, sources: VariableSources): Promise<ProjectHead | undefined> {
  const file = await findProjectFile(directory);
  if (file === undefined) return undefined;
  const refuse = (state: string): never => {
    throw usageError(`Cannot read "${relative(directory, file)}": ${state}`);
  };
  const read = await readTextFile(file, mostProjectBytes);
  if (read.kind === "refused") return refuse(read.state);
  const { readLocated } = await import("./read-located.ts");
  const { root, wellFormed } = readLocated(read.text);
  if (root?.kind !== "map" && !wellFormed) return refuse("it is not YAML");
  const value = async (key: string): Promise<string | undefined> => {
    const text = root === undefined ? undefined : textAt(root, key)?.value;
    if (text === undefined || !text.includes("${")) return text;
    const { text: replaced, states } = replaceInText(text, await readVariables(directory, sources));
    return states.length === 0 ? replaced : text;
  };
  return { file, gateway: await value("gateway"), namespace: await value("namespace") };
}
