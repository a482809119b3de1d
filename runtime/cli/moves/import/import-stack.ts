import { nearestName } from "../../../api/closest-name.ts";
import { isFunctionName, namePattern } from "../../../api/grammar.ts";
import { patternWords } from "../../project/pattern-words.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";
import type { FieldPlace, MoveReport } from "../report/move-report.ts";
import { projectFunctionFields } from "../source/function-schemas.ts";
import {
  entriesOf,
  isEmpty,
  sourceText,
  textsOf,
  type SourceDocument,
  type SourceEntries,
} from "../source/source-document.ts";
import { buildFields, importBuild } from "./import-build.ts";
import { importDeployment, withCredentials, type FieldNames } from "./import-deployment.ts";
import { callTimes, withTimeout } from "./import-times.ts";
import { importEnvironment, type EnvironmentSource, type WrittenFile } from "./import-environment.ts";

/** Functions of a stack file. */
interface ImportedStack {
  readonly functions: ReadonlyMap<string, ProjectFunction>;
  /** `provider.gateway`, if it is there. */
  readonly gateway: string | undefined;
  readonly files: readonly WrittenFile[];
}

interface StackPlace {
  /** A path of the stack file relative to weir.yaml; undefined when it is not in the project. */
  readonly placed: (path: string) => string | undefined;
  /** Files that `environment_file` names, by their names there. */
  readonly environment: ReadonlyMap<string, EnvironmentSource>;
  readonly renameKeys: boolean;
}

/** Fields of a function in a stack file that weir.yaml has, too. */
const stackNames: FieldNames = {
  image: ["image", "image"],
  namespace: ["namespace", "namespace"],
  fprocess: ["envProcess", "envProcess"],
  environment: ["envVars", "envVars"],
  labels: ["labels", "labels"],
  annotations: ["annotations", "annotations"],
  secrets: ["secrets", "secrets"],
  constraints: ["constraints", "constraints"],
  limits: ["limits", "limits"],
  requests: ["requests", "requests"],
  readonly_root_filesystem: ["readOnlyRootFilesystem", "readOnlyRootFilesystem"],
};

const otherFields: readonly string[] = [...buildFields, "environment_file"];

/** Whether a document is a stack file. */
export function isStack({ root }: SourceDocument): boolean {
  return root.kind === "map" && root.entries.has("functions") && !root.entries.has("kind");
}

/** The functions of a stack file; the report gets a row for each field that is there. */
export function importStack({ root }: SourceDocument, place: StackPlace, report: MoveReport): ImportedStack {
  const functions = new Map<string, ProjectFunction>();
  const files: WrittenFile[] = [];
  let gateway: string | undefined;
  for (const [key, value] of entriesOf(root)) {
    const at = { field: key, at: value.at };
    switch (key) {
      case "version":
        report.kept(at, key, key, "of weir.yaml, which is 1");
        break;
      case "provider":
        gateway = importProvider(entriesOf(value), report) ?? gateway;
        break;
      case "functions":
        for (const [name, definition] of entriesOf(value)) {
          const found = importFunction(
            name,
            { field: `functions.${name}`, at: definition.at },
            entriesOf(definition),
            place,
            report,
          );
          if (found === undefined) continue;
          functions.set(name, found.definition);
          files.push(...found.files);
        }
        break;
      case "configuration":
        reportConfiguration(entriesOf(value), report);
        break;
      default:
        if (key.startsWith("x-")) report.dropped(at, "it only holds what is used elsewhere");
        else report.refused(at, "Weir has no such field");
    }
  }
  return { functions, gateway, files };
}

function importProvider(provider: SourceEntries, report: MoveReport): string | undefined {
  let gateway: string | undefined;
  for (const [key, value] of provider) {
    const at = { field: `provider.${key}`, at: value.at };
    if (key === "name") {
      report.dropped(at, "weir.yaml names no provider");
    } else if (key === "gateway" && sourceText(value) !== undefined) {
      gateway = sourceText(value);
      report.kept(at, "provider.gateway", "gateway", "commented out, as a context, WEIR_GATEWAY or --gateway names it");
    } else if (isEmpty(value)) {
      report.dropped(at, "it is empty");
    } else {
      report.refused(at, "Weir has no such field");
    }
  }
  return gateway;
}

function reportConfiguration(configuration: SourceEntries, report: MoveReport): void {
  for (const [key, value] of configuration) {
    const at = { field: `configuration.${key}`, at: value.at };
    if (key === "copy") report.refused(at, "weir copies nothing into a folder", "build.context with all directories");
    else if (key === "templates") report.refused(at, "weir builds no templates", "faas-cli build, or weir init");
    else report.refused(at, "Weir has no such field");
  }
}

function importFunction(
  name: string,
  at: FieldPlace,
  entries: SourceEntries,
  { placed, environment, renameKeys }: StackPlace,
  report: MoveReport,
): { readonly definition: ProjectFunction; readonly files: readonly WrittenFile[] } | undefined {
  const { field } = at;
  if (!isFunctionName(name)) {
    report.refused(at, `expected ${patternWords(namePattern.function)}`);
    return undefined;
  }
  const external = importEnvironment(entries.get("environment_file"), `${field}.environment_file`, environment, report);
  const variables = new Map([...textsOf(entries.get("environment")), ...external.variables]);
  const times = callTimes(variables, textsOf(entries.get("annotations")), true);
  const source = { entries, field, names: stackNames, overridden: external.setBy, notes: times.notes };
  const plain = withTimeout(importDeployment(source, report, { renameKeys, isStackFile: true }), times);
  for (const [key, file] of external.setBy) {
    const said = times.notes.get(key);
    if (said === undefined) continue;
    const place = {
      field: `${field}.environment_file: ${key} of ${file}`,
      at: entries.get("environment_file")?.at ?? 0,
    };
    if (said.refused === true || said.warns === true) report.refused(place, said.note);
    else report.kept(place, "environment_file", "environmentFiles", said.note);
  }
  const deployed = external.asksForToken ? withCredentials(plain) : plain;
  const envVars = { ...deployed.envVars, ...external.values };
  const build = importBuild({ entries, field, placed }, report);
  for (const [key, value] of entries)
    if (!Object.hasOwn(stackNames, key) && !otherFields.includes(key))
      report.refused({ field: `${field}.${key}`, at: value.at }, unknownField(key));
  if (deployed.image === undefined && build.build === undefined) {
    report.refused(at, "it has no image", "image, or lang: dockerfile with handler");
    return undefined;
  }
  return {
    definition: {
      ...deployed,
      ...(Object.keys(envVars).length === 0 ? {} : { envVars }),
      ...build,
      ...(external.paths.length === 0 ? {} : { environmentFiles: external.paths }),
    },
    files: external.files,
  };
}

function unknownField(key: string): string {
  if (Object.hasOwn(projectFunctionFields, key)) return "it is a field of weir.yaml, and of no stack file";
  const near = nearestName(key, [...Object.keys(stackNames), ...otherFields]);
  return `Weir has no such field${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** The files that `environment_file` names anywhere in a stack file. */
export function environmentFilesOf({ root }: SourceDocument): readonly string[] {
  const named = [...entriesOf(entriesOf(root).get("functions")).values()].flatMap((definition) => {
    const listed = entriesOf(definition).get("environment_file");
    return listed?.kind === "list" ? listed.items : listed === undefined ? [] : [listed];
  });
  return [...new Set(named.flatMap((each) => sourceText(each) ?? []))];
}
