import type { Setting } from "../../runtime/settings/setting.ts";

/** The permitted values of a setting, in words. */
export function kindOf({ kind, limits, unit }: Setting<unknown>): string {
  const words = kind.includes(" | ") ? kind.split(" | ").map(code).join(", ") : kind;
  return [words, limits, unit === undefined ? undefined : `in ${unit}`].filter((part) => part !== undefined).join("; ");
}

/** Its default, as a cell shows it. */
export function defaultOf({ fallback, optional }: Setting<unknown>): string {
  if (fallback === undefined) return optional === true ? "–" : "must be set";
  return fallback === "" ? "none" : code(fallback);
}

/** Text formatted as code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** A Markdown table. */
export function table(rows: readonly (readonly string[])[], columns: readonly string[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(columns) + line(columns.map(() => "---")) + rows.map(line).join("");
}
