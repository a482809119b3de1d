/** What a `.dockerignore` leaves out. */
export interface IgnoreRules {
  /** Whether a path, relative to the folder and with `/` between its parts, is left out. */
  readonly ignores: (path: string) => boolean;
  /** Some lines begin with `!`: a path may count although a directory above it is left out. */
  readonly hasExceptions: boolean;
}

const mostLines = 1_000;

/**
 * The rules of a `.dockerignore`, as docker reads it: one pattern per line, anchored at the folder, with `*`, `?`,
 * `[a-z]`, `**` for any number of directories and `!` for exceptions; `#` begins a comment, the last line that matches
 * decides. A pattern that matches a directory matches all below it. Lines after the first 1 000 do not count.
 */
export function parseIgnoreFile(text: string): IgnoreRules {
  const lines = text.replace(/^\uFEFF/, "").split("\n", mostLines);
  const rules = lines.filter((line) => !line.startsWith("#")).flatMap((line) => ruleIn(line.trim()) ?? []);
  return {
    ignores: (path) => rules.findLast(({ matches }) => matches.test(path))?.ignored ?? false,
    hasExceptions: rules.some(({ ignored }) => !ignored),
  };
}

interface IgnoreRule {
  readonly matches: RegExp;
  readonly ignored: boolean;
}

function ruleIn(line: string): IgnoreRule | undefined {
  const ignored = !line.startsWith("!");
  const parts = (ignored ? line : line.slice(1).trim()).split("/");
  // Several `**` in a row mean as much as one, and take a regular expression much longer.
  const kept = parts.filter((part, at) => part !== "" && part !== "." && (part !== "**" || parts[at + 1] !== "**"));
  if (kept.length === 0) return undefined;
  return { ignored, matches: expressionOf(kept.join("/")) };
}

const special = /\*\*\/|\*\*|[*?]|\\.|\[[^\]]+\]|[.+^${}()|[\]\\]/gs;

function expressionOf(pattern: string): RegExp {
  const whole = (source: string): RegExp => new RegExp(`^${source}(?:/.*)?$`, "s");
  try {
    return whole(pattern.replaceAll(special, sourceOf));
  } catch {
    // A range that is none, such as `[z-a]`.
    return whole(literal(pattern));
  }
}

function sourceOf(part: string): string {
  switch (part) {
    case "**/":
      return "(?:.*/)?";
    case "**":
      return ".*";
    case "*":
      return "[^/]*";
    case "?":
      return "[^/]";
    default:
      if (part.startsWith("[") && part.length > 1) return part;
      return literal(part.length === 2 ? part.slice(1) : part);
  }
}

/** The command line runs on versions of Node.js that have no `RegExp.escape`. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
