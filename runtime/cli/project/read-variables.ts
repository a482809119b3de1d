import { resolve } from "node:path";

import { mostText } from "../../api/schemas/key-rules.ts";
import { usageError } from "../cli-error.ts";
import { parseEnvironmentFile } from "./environment-file.ts";
import { readTextFile } from "./read-text-file.ts";
import type { VariableLookup } from "./replace-variables.ts";

/** Where the variables of a `weir.yaml` come from. */
export interface VariableSources {
  /** It wins over the files. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--env-file`, relative to the working directory; a later one wins. */
  readonly environmentFiles?: readonly string[] | undefined;
}

/**
 * Reads the variables.
 * @throws CliError when a file cannot be read
 */
export async function readVariables(
  directory: string,
  { environment, environmentFiles = [] }: VariableSources,
): Promise<VariableLookup> {
  const values = new Map<string, string>();
  for (const name of environmentFiles) {
    const refuse = (state: string): never => {
      throw usageError(`Cannot read ${JSON.stringify(name)}: ${state}`);
    };
    const file = await readTextFile(resolve(directory, name), mostText);
    if (file.kind === "refused") return refuse(file.state);
    const parsed = parseEnvironmentFile(file.text);
    if (parsed.states.length > 0) return refuse(parsed.states.join("; "));
    for (const [key, value] of Object.entries(parsed.values)) values.set(key, value);
  }
  return (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? values.get(name);
}
