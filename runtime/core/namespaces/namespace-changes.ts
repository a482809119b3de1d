import type { FunctionNamespaceBody } from "../../api/schemas/function-namespace.ts";
import { namespaceMarker } from "../../api/names.ts";
import { namespaceKey } from "../../api/schemas/key-rules.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { checkAnnotations, checkLabels } from "../labels/check-labels.ts";
import { keyReader } from "../labels/key-reader.ts";
import {
  checkManyNamespaces,
  checkNamespaceName,
  isUsable,
  resolveNamespace,
  unknownNamespace,
  type NamespaceRules,
} from "./namespace-rules.ts";
import type { NamespaceTable } from "./namespace-table.ts";
import type { NamespaceEntry, NamespaceStore } from "../ports/namespace-store.ts";

/** What namespaces are checked against, and where they are stored. */
export interface NamespaceParts {
  readonly namespaces: NamespaceRules;
  readonly namespaceStore: NamespaceStore;
  /** Filled by the watch of the store; `namespaces.exists` reads it. */
  readonly namespaceTable: NamespaceTable;
}

/** Usable namespaces, sorted; always includes the default one. */
export function namespaceNames({ namespaces, namespaceTable }: NamespaceParts): string[] {
  const usable = namespaceTable.names().filter((name) => isUsable(name, namespaces));
  return [...new Set([namespaces.defaultNamespace, ...usable])].toSorted();
}

/**
 * A namespace as clients see it, under its real name.
 * @throws PlatformError as `resolveNamespace`
 */
export async function showNamespace(name: string, parts: NamespaceParts): Promise<FunctionNamespaceBody> {
  const real = resolveNamespace(name, parts.namespaces, "namespace_not_found");
  const entry = unlessDeleting(await parts.namespaceStore.get(real)) ?? unstoredDefault(real, parts);
  return { name: real, labels: entry.labels, annotations: entry.annotations };
}

/**
 * Creates a namespace; when it resolves, every request finds it.
 * @throws PlatformError `validation_failed`, `namespace_reserved`, `edition_limit`, or `namespace_exists`, also while
 * one of that name is being deleted
 */
export async function createNamespace(
  wanted: FunctionNamespaceBody,
  parts: NamespaceParts,
  now: () => number = Date.now,
): Promise<void> {
  const { name } = wanted;
  const { defaultNamespace } = parts.namespaces;
  const texts = textsOf(wanted);
  checkChange(name, parts.namespaces, [defaultNamespace]);
  if (name === defaultNamespace) throw exists(name, "it is the default one");
  const createdAt = new Date(now()).toISOString();
  await parts.namespaceStore.write(name, (current) => {
    if (current !== undefined) throw exists(name, current.deleting ? "it is still being deleted" : "it already exists");
    return { name, ...texts, createdAt, deleting: false };
  });
  await parts.namespaceTable.until(() => parts.namespaceTable.find(name)?.createdAt === createdAt);
}

/**
 * Replaces labels and annotations of a namespace.
 * @throws PlatformError `validation_failed`, `namespace_reserved`, `edition_limit`, `namespace_not_found`
 */
export async function replaceNamespace(wanted: FunctionNamespaceBody, parts: NamespaceParts): Promise<void> {
  const texts = textsOf(wanted);
  const name = changedName(wanted.name, parts.namespaces);
  await parts.namespaceStore.write(name, (current) => ({
    ...(unlessDeleting(current) ?? unstoredDefault(name, parts)),
    ...texts,
  }));
}

/**
 * Marks a namespace as being deleted. When it resolves no request finds it any more; its content is deleted elsewhere.
 * @throws PlatformError `namespace_reserved`, `edition_limit`, `namespace_not_found`; `forbidden` for the default one
 */
export async function deleteNamespace(asked: string, parts: NamespaceParts): Promise<void> {
  const name = changedName(asked, parts.namespaces);
  if (name === parts.namespaces.defaultNamespace) {
    throw new PlatformError("forbidden", `Cannot delete namespace "${name}": it is the default one`);
  }
  await parts.namespaceStore.write(name, (current) => ({
    ...(unlessDeleting(current) ?? unstoredDefault(name, parts)),
    deleting: true,
  }));
  await parts.namespaceTable.until(() => parts.namespaceTable.find(name) === undefined);
}

/** Stores the default namespace if it is not stored yet, so that it is kept when another becomes the default. */
export async function ensureDefaultNamespace(parts: NamespaceParts): Promise<void> {
  const name = parts.namespaces.defaultNamespace;
  if ((await parts.namespaceStore.get(name)) !== undefined) return;
  await parts.namespaceStore.write(name, (current) => current ?? unstoredDefault(name, parts));
}

/**
 * Called after a write into a namespace that a request named. Calls `undo` if the namespace was deleted meanwhile, as
 * nothing may be left in a namespace that is being emptied.
 * @throws PlatformError `validation_failed` when it was
 */
export async function confirmNamespace(
  name: string,
  { namespaces, namespaceStore }: Omit<NamespaceParts, "namespaceTable">,
  undo: () => Promise<unknown>,
): Promise<void> {
  if (name === namespaces.defaultNamespace || unlessDeleting(await namespaceStore.get(name)) !== undefined) return;
  await undo();
  throw unknownNamespace(name, "validation_failed");
}

function changedName(name: string, rules: NamespaceRules): string {
  checkChange(name, rules, [rules.defaultNamespace, ...rules.aliases]);
  return resolveNamespace(name, rules, "namespace_not_found");
}

function checkChange(name: string, rules: NamespaceRules, unchecked: readonly string[]): void {
  if (!unchecked.includes(name)) checkNamespaceName(name, rules);
  checkManyNamespaces("change", name, rules);
}

/** Labels and annotations to store: a missing marker is added. */
function textsOf({
  labels = {},
  annotations = {},
}: FunctionNamespaceBody): Pick<NamespaceEntry, "labels" | "annotations"> {
  checkLabels(labels);
  checkAnnotations(annotations);
  const marked = [keyReader("label", labels), keyReader("annotation", annotations)]
    .map((read) => read(namespaceKey))
    .some((value) => value !== undefined);
  const foreign = [labels, annotations].some((texts) => Object.hasOwn(texts, namespaceMarker.foreignKey));
  if (marked || foreign) return { labels, annotations };
  return { labels: { ...labels, [namespaceMarker.key]: namespaceMarker.value }, annotations };
}

function unlessDeleting(entry: NamespaceEntry | undefined): NamespaceEntry | undefined {
  return entry?.deleting === true ? undefined : entry;
}

/** Stands in for a default namespace that is not stored. */
function unstoredDefault(name: string, { namespaces }: NamespaceParts): NamespaceEntry {
  if (name !== namespaces.defaultNamespace) throw unknownNamespace(name, "namespace_not_found");
  return { name, ...textsOf({ name }), createdAt: new Date().toISOString(), deleting: false };
}

function exists(name: string, state: string): PlatformError {
  return new PlatformError("namespace_exists", `Cannot create namespace "${name}": ${state}`);
}
