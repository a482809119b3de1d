import { escapeLine } from "../../output/escape-text.ts";
import type { ChangedField } from "./changed-fields.ts";

/** What a deployment would do, as `--dry-run` prints it. */
export interface PlannedChange {
  readonly name: string;
  /** Absent: the gateway's default one. */
  readonly namespace?: string;
  readonly change: "create" | "update" | "none";
  readonly fields: readonly ChangedField[];
}

/** The same without values of `envVars`, which may be secrets all the same. */
export function withoutValues(change: PlannedChange): PlannedChange {
  return { ...change, fields: change.fields.map(withoutValue) };
}

/** Lines for people; values of `envVars` are not in them. */
export function describeChange({ name, change, fields }: PlannedChange): string {
  const head = { create: "is created", update: "changes", none: "does not change" }[change];
  return [`${name} ${head}`, ...fields.map(withoutValue).map((field) => `  ${lineOf(field)}`)]
    .map((line) => `${escapeLine(line)}\n`)
    .join("");
}

function lineOf(field: ChangedField): string {
  const { path, before, after } = field;
  if (!("before" in field)) return `+ ${path}: ${text(after)}`;
  if (!("after" in field)) return `- ${path}: ${text(before)}`;
  return before === after ? `~ ${path}: ${text(after)}` : `~ ${path}: ${text(before)} → ${text(after)}`;
}

function withoutValue(field: ChangedField): ChangedField {
  if (!field.path.startsWith("envVars.")) return field;
  return {
    path: field.path,
    ...("before" in field ? { before: "…" } : {}),
    ...("after" in field ? { after: "…" } : {}),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
