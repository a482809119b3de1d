import { isEnvironmentName } from "../../api/grammar.ts";

/** A file of `KEY=value` lines; `states` say what is wrong with lines of it. */
export interface EnvironmentFile {
  readonly values: Readonly<Record<string, string>>;
  readonly states: readonly string[];
}

/**
 * Reads `KEY=value` lines. Blank lines and those that begin with `#` do not count. A value is taken as it is, without
 * the blanks around it; one in quotes of one kind is what stands between them, with its blanks. The last of two lines
 * for one key wins.
 */
export function parseEnvironmentFile(text: string): EnvironmentFile {
  const values = new Map<string, string>();
  const states: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const content = line.trim();
    if (content === "" || content.startsWith("#")) continue;
    const equals = content.indexOf("=");
    const key = content.slice(0, Math.max(0, equals));
    if (content.includes("\0")) states.push(`line ${index + 1} has a NUL`);
    else if (isEnvironmentName(key)) values.set(key, unquoted(content.slice(equals + 1).trim()));
    else states.push(`line ${index + 1} is not KEY=value`);
  }
  return { values: Object.fromEntries(values), states };
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}
