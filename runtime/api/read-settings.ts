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
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
