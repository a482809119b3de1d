import type { SettingRule } from "./setting-rules.ts";
import type { Setting, Settings, Values } from "./setting.ts";

/** Where values come from, strongest first: flag, environment, file, then the setting's own default. */
export interface SettingSources {
  /** Keys in kebab-case, without `--`. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Keys are the setting's names verbatim. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Keys are the setting's names; values may be text, numbers, booleans or lists of those. */
  readonly file?: Readonly<Record<string, unknown>>;
}

/** All problems with the settings of a start, in one message. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Cannot start: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** The values that could be read, and the problems of the others; each problem begins with the name of a setting. */
export interface SettingsOutcome<S extends Settings> {
  /** Complete only if there are no problems. */
  readonly values: Values<S>;
  readonly problems: readonly string[];
}

/** The flag of a setting, without `--`. */
export function flagName(settingName: string): string {
  return settingName.replaceAll("_", "-");
}

/**
 * Values of all settings of `table`.
 * @throws SettingsError with every problem at once
 */
export function readSettings<S extends Settings>(table: S, sources: SettingSources): Values<S> {
  const { values, problems } = collectSettings(table, sources, []);
  if (problems.length > 0) throw new SettingsError(problems);
  return values;
}

/** Reads all settings of `table` and applies the rules whose settings could be read. */
export function collectSettings<S extends Settings>(
  table: S,
  sources: SettingSources,
  rules: readonly SettingRule<Values<S>>[],
): SettingsOutcome<S> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const unread = new Set<string>();
  for (const [key, setting] of Object.entries(table)) {
    const outcome = readSetting(setting, sources);
    if ("value" in outcome) values[key] = outcome.value;
    else {
      unread.add(key);
      problems.push(...outcome.problems);
    }
  }
  const read = values as Values<S>;
  for (const rule of new Set(rules)) {
    if (!rule.needs.some((key) => unread.has(key))) problems.push(...rule.problems(read));
  }
  return { values: read, problems };
}

type Outcome = { readonly value: unknown } | { readonly problems: readonly string[] };

function readSetting(setting: Setting<unknown>, sources: SettingSources): Outcome {
  const { name } = setting;
  const inFile = sources.file?.[name];
  if (setting.parseFile !== undefined) return setting.parseFile(inFile);
  const [text, source] = firstOf([
    [sources.flags?.[flagName(name)], `flag --${flagName(name)}`],
    [sources.environment?.[name], "environment"],
    [textOf(inFile), "settings file"],
    [setting.fallback, "default"],
  ]);
  if (text === undefined) {
    return setting.optional === true ? { value: undefined } : { problems: [`${name} is required (${setting.about})`] };
  }
  const outcome = setting.parse(text);
  if ("value" in outcome) return outcome;
  return { problems: [`${name}: expected ${outcome.expected}, got ${shownPart(setting, text)} (${source})`] };
}

function firstOf(
  candidates: readonly (readonly [string | undefined, string])[],
): readonly [string | undefined, string] {
  return candidates.find(([text]) => text !== undefined) ?? [undefined, ""];
}

const longestShown = 100;

/** As `shown`, of what breaks the rule. It is sought in what may be shown: a part of a secret is one, too. */
function shownPart(setting: Setting<unknown>, text: string): string {
  const outcome = setting.parse(setting.show?.(text) ?? text);
  return "wrong" in outcome && outcome.wrong !== undefined ? shown({}, outcome.wrong) : shown(setting, text);
}

/** A value in quotes: control characters escaped, secrets hidden, truncated to 100 characters. */
export function shown(setting: Pick<Setting<unknown>, "show">, text: string): string {
  const visible = setting.show?.(text) ?? text;
  return JSON.stringify(visible.length > longestShown ? `${visible.slice(0, longestShown)}…` : visible);
}

/** A value of the file as the text that a flag would have; undefined if there is none. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? "").join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The flags of a table, for `--help`. */
export function flagsOf(table: Settings) {
  return Object.values(table)
    .filter(({ parseFile }) => parseFile === undefined)
    .map(({ name, about, kind, fallback }) => ({ name: flagName(name), about, kind, fallback }));
}
