import type { Located, LocatedEntry, LocatedPath } from "./located.ts";
import { problemAt, quoted, type ProjectProblem } from "./problem.ts";

/** The value of a variable; undefined when it is not set. */
export type VariableLookup = (name: string) => string | undefined;

/** A text whose variables were replaced; `states` say why some were not. */
interface ReplacedText {
  readonly text: string;
  readonly states: readonly string[];
}

/** `$${` is a literal `${`; everything else that begins with `${` must be a variable. */
const reference = /\$\$\{|\$\{([^}]*)(\}?)/g;
const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** `${NAME}` and `${NAME:-default}` in `text`; the default also counts when the variable is empty, as in a shell. */
export function replaceInText(text: string, lookup: VariableLookup): ReplacedText {
  const states: string[] = [];
  const replaced = text.replaceAll(reference, (whole: string, inner: string | undefined, end: string | undefined) => {
    if (inner === undefined) return "${";
    const [, name, fallback] = (end === "}" ? variable.exec(inner) : null) ?? [];
    if (name === undefined) {
      states.push(`${quoted(whole)} is neither \${NAME} nor \${NAME:-default}; a literal \${ is written $\${`);
      return whole;
    }
    const value = lookup(name);
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value === undefined) states.push(`variable ${name} is not set, in the environment or by --env-file`);
    return value ?? whole;
  });
  return { text: replaced, states };
}

/** The same for every text in a document; keys stay. A text with problems stays as it is. */
export function replaceVariables(
  root: Located,
  lookup: VariableLookup,
): { readonly root: Located; readonly problems: readonly ProjectProblem[] } {
  const problems: ProjectProblem[] = [];
  const replaced = (located: Located, path: LocatedPath): Located => {
    switch (located.kind) {
      case "scalar": {
        const { value, at } = located;
        if (typeof value !== "string" || !value.includes("${")) return located;
        const { text, states } = replaceInText(value, lookup);
        problems.push(...states.map((state) => problemAt(at, path, state)));
        return { ...located, value: text, variables: states.length === 0 ? "replaced" : "missing" };
      }
      case "list":
        return { ...located, items: located.items.map((item, index) => replaced(item, [...path, index])) };
      case "map": {
        const entries = new Map<string, LocatedEntry>();
        for (const [key, entry] of located.entries)
          entries.set(key, { ...entry, value: replaced(entry.value, [...path, key]) });
        return { ...located, entries };
      }
      default:
        return located satisfies never;
    }
  };
  return { root: replaced(root, []), problems };
}
