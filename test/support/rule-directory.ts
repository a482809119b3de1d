import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { stringify } from "yaml";

import { FileAccessRules } from "../../runtime/adapters/files/rules/file-access-rules.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { eventually } from "./eventually.ts";
import { tempDirectory } from "./temp-directory.ts";

/** A directory of rules that is watched. */
export interface RuleDirectory extends AsyncDisposable {
  readonly path: string;
  readonly rules: FileAccessRules;
  /** All rules that were observed. */
  readonly seen: readonly RuleSet[];
  /** Replaces a file by renaming a new one; documents are given as objects or as text. */
  write(file: string, ...documents: readonly (object | string)[]): Promise<void>;
  remove(file: string): Promise<void>;
  /** Resolves with the last rules as soon as they hold. */
  until(what: string, holds: (rules: RuleSet) => boolean): Promise<RuleSet>;
}

/** Opens a new directory with the files that `prepare` writes. */
export async function openRuleDirectory(prepare?: (path: string) => Promise<void>): Promise<RuleDirectory> {
  const directory = await tempDirectory("rules");
  const { path } = directory;
  try {
    await prepare?.(path);
    const rules = await FileAccessRules.open(path);
    const seen: RuleSet[] = [];
    await rules.watch((each) => void seen.push(each));
    return {
      path,
      rules,
      seen,
      write: (file, ...documents) => writeRules(join(path, file), ...documents),
      remove: (file) => rm(join(path, file)),
      until: (what, holds) =>
        eventually(
          () => {
            const last = seen.at(-1);
            return last !== undefined && holds(last) && last;
          },
          { what },
        ),
      [Symbol.asyncDispose]: async () => {
        await rules.close();
        await directory.remove();
      },
    };
  } catch (err) {
    await directory.remove();
    throw err;
  }
}

/** Writes documents to a file, each given as an object or as text. */
export async function writeRules(path: string, ...documents: readonly (object | string)[]): Promise<void> {
  const texts = documents.map((each) => (typeof each === "string" ? each : stringify(each)));
  await writeFile(`${path}.new`, texts.join("---\n"), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
