import { closestName } from "../api/closest-name.ts";
import { collectSettings, textOf } from "./read-settings.ts";
import type { Setting, Settings, TextRule, Values } from "./setting.ts";
import { isMapping } from "./mapping.ts";

/** One entry of a mapping of names to settings; fields that the file does not set are absent. */
export interface NamedEntry<F extends Settings> {
  readonly name: string;
  readonly fields: Partial<Values<F>>;
}

/**
 * A mapping in the settings file: names that match `rule`, each with some of `fields`. A field named `retry.attempts`
 * is the key `attempts` of a mapping `retry`. All problems are reported together, each with its path.
 */
export function namedEntries<F extends Settings>(
  name: string,
  options: { readonly about: string; readonly rule: TextRule; readonly fields: F },
): Setting<readonly NamedEntry<F>[]> {
  const { about, rule, fields } = options;
  return {
    name,
    about,
    kind: "mapping, in the file only",
    fallback: "",
    parse: () => ({ expected: "a mapping in the settings file" }),
    parseFile: (content) => {
      if (content === undefined || content === null) return { value: [] };
      if (!isMapping(content)) return { problems: [`${name}: expected a mapping of names, got ${kindOf(content)}`] };
      const read = Object.entries(content).map(([entry, value]) => readEntry(`${name}.${entry}`, entry, value));
      const problems = read.flatMap((outcome) => outcome.problems);
      return problems.length > 0 ? { problems } : { value: read.map((outcome) => outcome.entry) };
    },
  };

  function readEntry(path: string, entry: string, content: unknown) {
    const problems = rule.test(entry) ? [] : [`${name}: expected ${rule.expected}, got ${JSON.stringify(entry)}`];
    const given = flatten(content ?? {}, path, fieldNames(fields), problems);
    const wanted = Object.fromEntries(
      Object.entries(fields)
        .filter(([, field]) => textOf(given[field.name]) !== undefined)
        .map(([key, field]) => [key, field]),
    );
    const outcome = collectSettings(wanted, { file: given }, []);
    problems.push(...outcome.problems.map((problem) => `${path}.${problem}`));
    return { entry: { name: entry, fields: outcome.values as Partial<Values<F>> }, problems };
  }
}

function fieldNames(fields: Settings): string[] {
  return Object.values(fields).map((field) => field.name);
}

/** Flattens nested mappings to dotted names; a key that is not a field becomes a problem. */
function flatten(
  content: unknown,
  path: string,
  known: readonly string[],
  problems: string[],
  prefix = "",
): Record<string, unknown> {
  if (!isMapping(content)) {
    problems.push(`${path}: expected a mapping of settings, got ${kindOf(content)}`);
    return {};
  }
  const flat: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(content)) {
    const name = prefix + key;
    if (known.includes(name)) flat[name] = value;
    else if (known.some((field) => field.startsWith(`${name}.`))) {
      Object.assign(flat, flatten(value ?? {}, `${path}.${key}`, known, problems, `${name}.`));
    } else {
      const near = closestName(name, known, 2);
      problems.push(`${path}.${key}: no such setting${near === undefined ? "" : `; did you mean ${near}?`}`);
    }
  }
  return flat;
}

function kindOf(content: unknown): string {
  return Array.isArray(content) ? "a list" : `a ${typeof content}`;
}
