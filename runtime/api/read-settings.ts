import type { Settings, Values } from "./setting.ts";

/** Where values come from, strongest first: flag, environment, file, then the setting's own default. */
export interface SettingSources {
  /** Keys in kebab-case, without `--`. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Keys are the setting's names verbatim. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Keys are the setting's names; values may be text, numbers, booleans or lists of those. */
  readonly file?: Readonly<Record<string, unknown>>;
}

/** All that is wrong with the settings of a start, in one message. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Cannot start: ${problems.join("; ")}`);
    this.problems = problems;
  }
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
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, setting] of Object.entries(table)) {
    const text =
      sources.flags?.[flagName(setting.name)] ??
      sources.environment?.[setting.name] ??
      textOf(sources.file?.[setting.name]) ??
      setting.fallback;
    if (text === undefined) {
      if (setting.optional !== true) problems.push(`${setting.name} is required (${setting.about})`);
      continue;
    }
    const outcome = setting.parse(text);
    if ("expected" in outcome) problems.push(`${setting.name}: expected ${outcome.expected}, got "${text}"`);
    else values[key] = outcome.value;
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return values as Values<S>;
}

/** Names in `file` that no table knows, e.g. misspelt ones. */
export function unknownSettings(file: Readonly<Record<string, unknown>>, tables: readonly Settings[]): string[] {
  const known = new Set(tables.flatMap((table) => Object.values(table).map((setting) => setting.name)));
  return Object.keys(file).filter((name) => !known.has(name));
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a process hands in when it starts; the functions are its own way to the outside. */
export interface StartSources {
  /** Flags by name, `config` among them if given. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => Readonly<Record<string, unknown>>;
}

/**
 * Settings of a starting process: flag, environment, `--config` file, default. With `strict` a name in the file that
 * the table does not know is a problem, too.
 * @throws SettingsError with every problem at once, or what `readFile` throws
 */
export function startSettings<S extends Settings>(table: S, start: StartSources, strict = false): Values<S> {
  const path = start.flags["config"] ?? start.environment["config"];
  const file = path === undefined ? {} : start.readFile(path);
  const unknown = strict ? unknownSettings(file, [table]) : [];
  try {
    const values = readSettings(table, { flags: start.flags, environment: start.environment, file });
    if (unknown.length === 0) return values;
  } catch (err) {
    if (!(err instanceof SettingsError) || unknown.length === 0) throw err;
    throw new SettingsError([...err.problems, ...unknown.map((name) => `${name} is no setting`)]);
  }
  throw new SettingsError(unknown.map((name) => `${name} is no setting`));
}

/** The flags of a table, for `--help`. */
export function flagsOf(table: Settings) {
  return Object.values(table).map(({ name, about, kind, fallback }) => ({
    name: flagName(name),
    about,
    kind,
    fallback,
  }));
}
