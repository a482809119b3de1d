import { escapeLine } from "./escape-text.ts";

/** A label and its value; a field without a value is left out, one without a label continues the field above. */
export type Field = readonly [label: string, value: string | undefined];

/** Fields of one thing, a line each: labels in a column, values beside them. */
export function formatFields(fields: readonly Field[]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value = ""]) => `${label.padEnd(width)}  ${escapeLine(value)}\n`).join("");
}
