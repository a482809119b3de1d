import { isAbsolute, relative, resolve, sep } from "node:path";

import { mostText } from "../../../api/schemas/key-rules.ts";
import { usageError } from "../../cli-error.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";
import { readLocated } from "../../project/read-located.ts";
import { readTextFile } from "../../project/read-text-file.ts";
import { manifestsText, type Manifest } from "../write/function-manifest.ts";
import type { EnvironmentSource, WrittenFile } from "./import-environment.ts";
import { importObject } from "./import-object.ts";
import { importProject, importRecord, type RecordedFunction } from "./import-project.ts";
import { environmentFilesOf, importStack, isStack } from "./import-stack.ts";
import { MoveReport, type MoveRow } from "../report/move-report.ts";
import { projectText } from "../write/project-text.ts";
import { readSource } from "../source/read-source.ts";
import { neededSecrets, type NeededSecret, type SecretUse } from "../report/needed-secrets.ts";
import { entriesOf, sourceText, type SourceDocument } from "../source/source-document.ts";

/** A file that is imported. */
export interface ImportInput {
  /** As it was named. */
  readonly file: string;
  readonly text: string;
  /** Absolute; its paths are relative to this. */
  readonly directory: string;
}

export interface ImportOptions {
  /** Directory that weir.yaml is written to; absolute. */
  readonly directory: string;
  readonly renameKeys: boolean;
}

/** What files become. */
export interface ImportResult {
  /** Text of a weir.yaml; undefined without functions for it. */
  readonly project: string | undefined;
  /** Text of objects of Kubernetes; undefined without any. */
  readonly manifests: string | undefined;
  /** Files beside weir.yaml. */
  readonly files: readonly WrittenFile[];
  readonly rows: readonly MoveRow[];
  readonly secrets: readonly NeededSecret[];
}

/**
 * Reads stack files and objects; of the files that these name, it reads those that `environment_file` lists.
 * @throws CliError when a file is neither, or two have a function of the same name
 */
export async function importFiles(
  inputs: readonly ImportInput[],
  { directory, renameKeys }: ImportOptions,
): Promise<ImportResult> {
  const functions = new Map<string, ProjectFunction>();
  const recorded: RecordedFunction[] = [];
  const manifests: Manifest[] = [];
  const gateways = new Set<string>();
  const files = new Map<string, WrittenFile>();
  const rows: MoveRow[] = [];
  const secrets: SecretUse[] = [];
  for (const input of inputs) {
    const report = new MoveReport(input.file, input.text);
    for (const document of (await readSource(input.text, input.file)).flatMap(itemsOf)) {
      if (isStack(document)) {
        const placed = (path: string): string | undefined => placeOf(resolve(input.directory, path), directory);
        const environment = await environmentOf(document, input, placed);
        const stack = importStack(document, { placed, environment, renameKeys }, report);
        for (const [name, definition] of stack.functions) add(functions, name, definition, input.file);
        for (const file of stack.files) files.set(file.path, file);
        if (stack.gateway !== undefined) gateways.add(stack.gateway);
      } else if (isObject(document)) {
        const object = importObject(document, report, renameKeys);
        if (object.kind !== "function") secrets.push(...object.secrets);
        if (object.kind === "manifest") manifests.push(object.manifest);
        if (object.kind === "function") {
          const record = await importRecord(document, `Function ${object.metadata.name}`, report);
          recorded.push({ file: input.file, record, ...object });
        }
      } else {
        throw usageError(`Cannot import "${input.file}": it is neither a stack file nor an object of OpenFaaS or Weir`);
      }
    }
    rows.push(...report.rows.toSorted((a, b) => a.line - b.line));
  }
  const ofObjects = importProject(recorded);
  for (const { metadata, file } of recorded) {
    const definition = ofObjects.functions.get(metadata.name);
    if (definition !== undefined) add(functions, metadata.name, definition, file);
  }
  for (const { secrets: names = [], namespace } of functions.values())
    secrets.push(...names.map((name) => ({ name, namespace: namespace ?? ofObjects.place.namespace })));
  const project = { ...ofObjects.place, functions: Object.fromEntries(functions), otherGateways: [...gateways] };
  return {
    project: functions.size === 0 ? undefined : await projectText(project),
    manifests: manifests.length === 0 ? undefined : await manifestsText(manifests.map((object) => ({ object }))),
    files: [...files.values()],
    rows,
    secrets: neededSecrets(secrets),
  };
}

function add(functions: Map<string, ProjectFunction>, name: string, definition: ProjectFunction, file: string): void {
  if (functions.has(name)) throw usageError(`Cannot import "${file}": function "${name}" is there twice`);
  functions.set(name, definition);
}

/** The objects of a list, as `kubectl get -o yaml` prints it; any other document is itself. */
function itemsOf(document: SourceDocument): readonly SourceDocument[] {
  const entries = entriesOf(document.root);
  const items = entries.get("items");
  if (!(sourceText(entries.get("kind")) ?? "").endsWith("List") || items?.kind !== "list") return [document];
  return items.items.map((root) => ({ ...document, root, comments: "" }));
}

function isObject({ root }: SourceDocument): boolean {
  const entries = entriesOf(root);
  return entries.has("apiVersion") && entries.has("kind");
}

/** A path relative to the project, with `/`; undefined when it is not inside. */
function placeOf(path: string, directory: string): string | undefined {
  const place = relative(directory, path);
  if (isAbsolute(place) || place === ".." || place.startsWith(`..${sep}`)) return undefined;
  return place === "" ? "." : place.replaceAll(sep, "/");
}

async function environmentOf(
  document: SourceDocument,
  { directory }: ImportInput,
  placed: (path: string) => string | undefined,
): Promise<ReadonlyMap<string, EnvironmentSource>> {
  const sources = new Map<string, EnvironmentSource>();
  for (const name of environmentFilesOf(document)) {
    const path = placed(name);
    const read = path === undefined ? undefined : await readTextFile(resolve(directory, name), mostText);
    const root = read?.kind === "text" ? readLocated(read.text).root : undefined;
    sources.set(name, { path, root });
  }
  return sources;
}
