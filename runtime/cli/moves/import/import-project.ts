import { usageError } from "../../cli-error.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";
import type { ManifestMetadata } from "../write/function-manifest.ts";
import type { Deployed } from "./import-deployment.ts";
import type { MoveReport } from "../report/move-report.ts";
import { recordIn, type ProjectRecord } from "../write/project-record.ts";
import { escapeReferences } from "../source/references.ts";
import type { SourceDocument } from "../source/source-document.ts";

/** A Function object of Weir, and what its comments keep for weir.yaml. */
export interface RecordedFunction {
  readonly file: string;
  readonly metadata: ManifestMetadata;
  readonly deployed: Deployed;
  readonly record: ProjectRecord;
}

/** What weir.yaml has besides functions. */
interface ProjectPlace {
  readonly gateway?: string;
  readonly namespace?: string;
}

/** The record before an object; a row for each part of it. */
export async function importRecord(
  { root, comments }: SourceDocument,
  title: string,
  report: MoveReport,
): Promise<ProjectRecord> {
  const found = await recordIn(comments);
  if (found === undefined) return {};
  const at = root.at - comments.length + found.at;
  for (const { path, why } of found.misfits) report.refused({ field: `${title}: # weir.yaml${path}`, at }, why);
  const record: ProjectRecord = typeof found.value === "object" && found.value !== null ? found.value : {};
  const { function: function_ = {}, ...place } = record;
  for (const key of Object.keys({ ...place, ...function_ }))
    report.kept({ field: `${title}: # weir.yaml ${key}`, at }, key, key in names ? (names[key] ?? key) : key);
  return record;
}

/** Marks in a record, and what they are about in weir.yaml. */
const names: Readonly<Record<string, string>> = {
  ownNamespace: "namespace",
  built: "image",
  fileVariables: "environmentFiles",
};

/**
 * Function objects of Weir as functions of one weir.yaml. Its texts are escaped, as `${` is text in an object.
 * @throws CliError when two have the same name
 */
export function importProject(functions: readonly RecordedFunction[]): {
  readonly place: ProjectPlace;
  readonly functions: ReadonlyMap<string, ProjectFunction>;
} {
  const place: ProjectPlace = {
    ...first(functions.map(({ record: { gateway } }) => (gateway === undefined ? undefined : { gateway }))),
    ...first(functions.map(({ record: { namespace } }) => (namespace === undefined ? undefined : { namespace }))),
  };
  const made = new Map<string, ProjectFunction>();
  for (const { metadata, deployed, record, file } of functions) {
    if (made.has(metadata.name))
      throw usageError(`Cannot import "${file}": function "${metadata.name}" is there twice`);
    made.set(metadata.name, escaped(functionOfObject(metadata, deployed, record, place)));
  }
  return { place: escaped(place), functions: made };
}

function first<T extends object>(values: readonly (T | undefined)[]): Partial<T> {
  return values.find((value) => value !== undefined) ?? {};
}

function functionOfObject(
  { namespace }: ManifestMetadata,
  { image, envVars, ...deployed }: Deployed,
  { function: record = {} }: ProjectRecord,
  place: ProjectPlace,
): ProjectFunction {
  const { ownNamespace = false, built = false, fileVariables = [], ...kept } = record;
  const own = Object.entries(envVars ?? {}).filter(([key]) => !fileVariables.includes(key));
  const isPlain = namespace === undefined || (namespace === place.namespace && !ownNamespace);
  const hasOwn = envVars !== undefined && (own.length > 0 || fileVariables.length === 0);
  return {
    ...(built ? {} : { image: image ?? "" }),
    ...(isPlain ? {} : { namespace }),
    ...deployed,
    ...(hasOwn ? { envVars: Object.fromEntries(own) } : {}),
    ...kept,
  };
}

function escaped<T>(value: T): T {
  return escapedValue(value) as T;
}

function escapedValue(value: unknown): unknown {
  if (typeof value === "string") return escapeReferences(value);
  if (Array.isArray(value)) return value.map(escapedValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escapedValue(each)]));
}
