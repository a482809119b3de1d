import { closestName, settingSpelling } from "../api/closest-name.ts";
import { collectSettings, flagName, SettingsError } from "./read-settings.ts";
import { renamedSettings } from "./renamed-settings.ts";
import { settingNames } from "./setting-names.ts";
import type { SettingRule } from "./setting-rules.ts";
import type { Settings, Values } from "./setting.ts";
import { readSettingsFile } from "./settings-file.ts";

/** What was typed after the name of a process. */
export interface TypedFlags {
  /** By name without `--`; `config` among them if given. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Names that are not flags, without `--`. */
  readonly unknown: readonly string[];
  /** Flags that need a value and have none, without `--`. */
  readonly withoutValue: readonly string[];
  /** Words that belong to no flag. */
  readonly words: readonly string[];
}

/** What a starting process passes in; `readFile` is the only I/O. */
export interface StartSources<V> {
  readonly typed: TypedFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => Uint8Array;
  readonly rules: readonly SettingRule<V>[];
  /** Whether other processes read the file, too, so that their settings may be in it. */
  readonly sharedFile: boolean;
}

/** The settings of a start, with warnings that do not prevent it. */
export interface StartedSettings<V> {
  readonly settings: V;
  readonly warnings: readonly string[];
}

/**
 * Settings of a starting process: flag, environment, `--config` file, default. Unknown names are problems on the
 * command line and in the file; the environment is shared with other programs, so there only a near miss is reported,
 * as a warning. A former name of a setting is a problem in any of them.
 * @throws SettingsError with every problem at once
 */
export function startSettings<S extends Settings>(
  table: S,
  start: StartSources<Values<S>>,
): StartedSettings<Values<S>> {
  const { typed, environment } = start;
  const names = Object.values(table).map(({ name }) => name);
  const path = typed.values["config"] ?? environment["config"];
  const { file, problem } = path === undefined ? { file: {} } : tryRead(path, start.readFile);
  const known = new Set(start.sharedFile ? [...names, ...settingNames] : names);
  const read = collectSettings(table, { flags: typed.values, environment, file }, start.rules);
  const problems = [
    ...(problem === undefined ? [] : [problem]),
    ...typed.withoutValue.map((flag) => `--${flag}: expected a value, got none`),
    ...typed.unknown.map((flag) => {
      const now = renamedSettings.get(flag.replaceAll("-", "_"));
      if (now !== undefined) return `--${flag} is now --${flagName(now)}`;
      return `--${flag}: no such flag${suggestion(flag, names, (name) => `--${flagName(name)}`)}`;
    }),
    ...typed.words.map((word) => `${JSON.stringify(word)}: expected flags only, see --help`),
    ...Object.keys(file)
      .filter((key) => !known.has(key))
      .map(
        (key) => renamed(key, "settings file") ?? `${key}: no such setting (settings file)${suggestion(key, known)}`,
      ),
    ...Object.keys(environment).flatMap((variable) => renamed(variable, "environment") ?? []),
    ...read.problems,
  ];
  if (problems.length > 0) throw new SettingsError(problems);
  return { settings: read.values, warnings: environmentWarnings(environment, names) };
}

function tryRead(path: string, readFile: StartSources<never>["readFile"]) {
  try {
    return { file: readSettingsFile(path, readFile) };
  } catch (err) {
    return { file: {}, problem: err instanceof Error ? err.message : String(err) };
  }
}

function renamed(name: string, source: string): string | undefined {
  const now = renamedSettings.get(name);
  return now === undefined ? undefined : `${name} is now ${now} (${source})`;
}

function suggestion(given: string, known: Iterable<string>, spell = (name: string) => name): string {
  const name = closestName(given, known, 2);
  return name === undefined ? "" : `; did you mean ${spell(name)}?`;
}

/**
 * Variables that were probably meant for Weir. One-word names such as `HOST` and `PORT` belong to many programs, so
 * they count only with the prefix `WEIR_`.
 */
function environmentWarnings(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): string[] {
  const known = new Set([...names, ...settingNames]);
  const candidates = names.filter((name) => name.includes("_"));
  return Object.keys(environment).flatMap((variable) => {
    // Kubernetes sets these in every pod.
    if (known.has(variable) || variable.startsWith("KUBERNETES_")) return [];
    const spelling = settingSpelling(variable);
    const prefixed = /^weir_/i.test(variable);
    if (known.has(spelling) && !names.includes(spelling)) return [];
    const name = closestName(variable, prefixed ? names : candidates, 1);
    return name === undefined ? [] : [`Environment variable "${variable}" is not read; did you mean "${name}"?`];
  });
}
