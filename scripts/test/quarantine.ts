import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A test that is known to fail at times: it runs and is reported, but does not count. */
export interface Quarantined {
  /** The day it was added, `2026-11-23`. */
  readonly since: string;
  /** Path below the repository. */
  readonly file: string;
  /** Its full name: those of its `describe`s and its own, separated by spaces. */
  readonly test: string;
  /** The cause, as far as known. */
  readonly cause: string;
}

/** Days after which the cause must have been found. */
export const quarantineDays = 14;

const path = join("test", "quarantine.json");
const keys = ["since", "file", "test", "cause"] as const;
const day = 86_400_000;

/** @throws SyntaxError, Error when the file is not a list of such lines */
export async function readQuarantine(root: string): Promise<readonly Quarantined[]> {
  const lines: unknown = JSON.parse(await readFile(join(root, path), "utf8"));
  if (!Array.isArray(lines)) throw new Error(`Cannot read ${path}: it is not a list`);
  return lines.map((line: unknown, index) => {
    if (isQuarantined(line)) return line;
    throw new Error(`Cannot read ${path}: line ${index + 1} needs the texts ${keys.join(", ")}, and no other`);
  });
}

/** One sentence for each invalid line: too old, dated in the future, or of a file that does not exist. */
export function quarantineFaults(lines: readonly Quarantined[], root: string, now: number): readonly string[] {
  return lines.flatMap(({ since, file, test }) => {
    const age = (now - Date.parse(`${since}T00:00:00Z`)) / day;
    const what = `Cannot keep "${test}" in ${path}`;
    if (!/^\d{4}-\d{2}-\d{2}$/.test(since) || !(age >= 0)) return [`${what}: "${since}" is not a day up to today`];
    if (age > quarantineDays) return [`${what}: it is there since ${since}, more than ${quarantineDays} days`];
    return existsSync(join(root, file)) ? [] : [`${what}: there is no file ${file}`];
  });
}

function isQuarantined(line: unknown): line is Quarantined {
  if (typeof line !== "object" || line === null || Object.keys(line).length !== keys.length) return false;
  return keys.every((key) => typeof Reflect.get(line, key) === "string" && Reflect.get(line, key) !== "");
}
