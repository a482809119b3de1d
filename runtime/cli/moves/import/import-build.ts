import type { Located } from "../../project/located.ts";
import type { BuildSettings } from "../../project/project-schema.ts";
import type { FieldPlace, MoveReport } from "../report/move-report.ts";
import { fitEntry, fitToSchema } from "../source/fit-schema.ts";
import { buildSettingsFields } from "../source/function-schemas.ts";
import { referenceNote } from "../source/references.ts";
import { entriesOf, scalarText, sourceText, type SourceEntries, type SourceScalar } from "../source/source-document.ts";

/** Where a function is built from, and how; neither when it is not built. */
interface ImportedBuild {
  readonly folder?: string;
  readonly build?: BuildSettings;
}

/** Fields of a function that say how it is built. */
export const buildFields = [
  "lang",
  "handler",
  "skip_build",
  "build_args",
  "platforms",
  "build_options",
  "build_secrets",
] as const;
type BuildField = (typeof buildFields)[number];

interface BuildSource {
  readonly entries: SourceEntries;
  /** Path of the function, as in `functions.hello`. */
  readonly field: string;
  /** A path relative to weir.yaml; undefined when it is not in the project. */
  readonly placed: (path: string) => string | undefined;
}

/** What is done about building a function. */
type BuildKind =
  | { readonly kind: "built"; readonly folder: string }
  /** Nothing, as the file says. */
  | { readonly kind: "skipped" }
  | { readonly kind: "refused"; readonly why: string; readonly instead: string };

/** How the function is built, where weir can build it; a row for each field that is there. */
export function importBuild(source: BuildSource, report: MoveReport): ImportedBuild {
  const { entries, field } = source;
  const kind = buildKind(source);
  const found = buildFields.flatMap((name) => {
    const value = entries.get(name);
    return value === undefined ? [] : [{ name, value, place: { field: `${field}.${name}`, at: value.at } }];
  });
  let build: BuildSettings = {};
  for (const { name, value, place } of found) {
    const refused = neverSupported(name);
    if (refused !== undefined) report.refused(place, ...refused);
    else if (name === "skip_build") reportSkip(value, place, kind, report);
    else if (kind.kind === "skipped") report.dropped(place, asItIs);
    else if (kind.kind === "refused") report.refused(place, kind.why, kind.instead);
    else build = { ...build, ...builtField(name, value, place, report) };
  }
  return kind.kind === "built" ? { folder: kind.folder, build } : {};
}

const asItIs = "the image is deployed as it is";

function buildKind({ entries, placed }: BuildSource): BuildKind {
  const lang = sourceText(entries.get("lang"));
  if (skipValue(entries.get("skip_build")) === true || lang === undefined) return { kind: "skipped" };
  if (lang.toLowerCase() !== "dockerfile")
    return { kind: "refused", why: `weir builds no templates: ${asItIs}`, instead: "faas-cli build" };
  const folder = placed(sourceText(entries.get("handler")) ?? ".");
  return folder === undefined
    ? { kind: "refused", why: `its folder is not below weir.yaml: ${asItIs}`, instead: "--out in a directory above" }
    : { kind: "built", folder };
}

function skipValue(source: Located | undefined): unknown {
  return source?.kind === "scalar" ? source.value : undefined;
}

function reportSkip(value: Located, place: FieldPlace, { kind }: BuildKind, report: MoveReport): void {
  if (typeof skipValue(value) !== "boolean") report.refused(place, "expected true or false");
  else report.dropped(place, kind === "skipped" ? asItIs : "it is the default");
}

function neverSupported(name: BuildField): readonly [why: string, instead: string] | undefined {
  switch (name) {
    case "build_options":
      return ["they belong to templates of faas-cli", "ARG in the Dockerfile, set by build.args"];
    case "build_secrets":
      return ["weir passes no secrets to a build", "docker buildx build --secret, and its image as image"];
    default:
      return undefined;
  }
}

function builtField(
  name: Exclude<BuildField, "skip_build">,
  value: Located,
  place: FieldPlace,
  report: MoveReport,
): BuildSettings {
  switch (name) {
    case "lang":
      report.kept(place, name, "build.dockerfile");
      return { dockerfile: "Dockerfile" };
    case "handler":
      report.kept(place, name, "folder", referenceNote(value));
      return {};
    case "build_args":
      return argsOf(entriesOf(value), place.field, report);
    case "platforms":
      return platformsOf(value, place, report);
    default:
      return {};
  }
}

function argsOf(entries: SourceEntries, field: string, report: MoveReport): BuildSettings {
  const args: Record<string, string> = {};
  for (const [key, each] of entries) {
    const place = { field: `${field}.${key}`, at: each.at };
    const { value, misfits } = fitEntry(key, each, buildSettingsFields["args"] ?? {}, true);
    if (typeof value === "string") {
      args[key] = value;
      report.kept(place, key, `build.args.${key}`, referenceNote(each));
    } else {
      report.refused(place, misfits.map(({ why }) => why).join("; "));
    }
  }
  return Object.keys(args).length === 0 ? {} : { args };
}

/** A list, or a text with commas. */
function platformsOf(source: Located, place: FieldPlace, report: MoveReport): BuildSettings {
  const list = source.kind === "scalar" ? ({ kind: "list", at: source.at, items: itemsOf(source) } as const) : source;
  const { value, misfits } = fitToSchema(list, buildSettingsFields["platforms"] ?? {}, true);
  for (const each of misfits) report.refused({ field: place.field + each.path, at: each.at }, each.why);
  if (value === undefined) return {};
  report.kept(place, "platforms", "build.platforms", referenceNote(source));
  return { platforms: value as string[] };
}

function itemsOf(source: SourceScalar): readonly SourceScalar[] {
  return scalarText(source)
    .split(",")
    .map((each) => ({ ...source, value: each.trim(), source: each.trim() }));
}
