import { editionNames, editions, type Edition } from "../../api/editions.ts";
import { grammarRule, isNamespaceName } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../quote.ts";

/** What decides which namespace a request means. */
export interface NamespaceRules {
  readonly defaultNamespace: string;
  /** Other names of the default namespace, which existing clients append. */
  readonly aliases: readonly string[];
  readonly platformNamespace: string;
  /** Reserved in addition to `default`, `kube-*` and the platform's own. */
  readonly reserved: readonly string[];
  readonly edition: Edition;
  /** Whether there is a namespace of that name that is not being deleted. */
  readonly exists: (name: string) => boolean;
}

/** Error code for an unknown namespace: one that a request refers to (400), or the one that it asks for (404). */
export type UnknownNamespace = "validation_failed" | "namespace_not_found";

/**
 * The real name of the namespace that a `/system` request names, or implies by naming none (contract §1.4).
 * @throws PlatformError `validation_failed`, `namespace_reserved`, `edition_limit` or `unknown`
 */
export function resolveNamespace(name: string | undefined, rules: NamespaceRules, unknown: UnknownNamespace): string {
  if (name === undefined) return rules.defaultNamespace;
  if (isUsable(name, rules)) return name;
  if (rules.aliases.includes(name)) return rules.defaultNamespace;
  checkNamespaceName(name, rules);
  checkManyNamespaces("use", name, rules);
  throw unknownNamespace(name, unknown);
}

/**
 * The real name of the namespace that is named, or implied by naming none, for decisions on who may: whether it exists
 * makes no difference, as who may do nothing in it is not told.
 */
export function realNamespace(name: string | undefined, rules: NamespaceRules): string {
  if (name === undefined) return rules.defaultNamespace;
  return rules.aliases.includes(name) && !isUsable(name, rules) ? rules.defaultNamespace : name;
}

/**
 * Checks a name that is not the default one.
 * @throws PlatformError `validation_failed` for a bad one, `namespace_reserved`
 */
export function checkNamespaceName(name: string, rules: NamespaceRules): void {
  if (!isNamespaceName(name)) {
    throw new PlatformError("validation_failed", `Cannot read namespace name ${quote(name)}: ${grammarRule.namespace}`);
  }
  if (isReserved(name, rules)) {
    throw new PlatformError("namespace_reserved", `Cannot use namespace ${quote(name)}: it is reserved`);
  }
}

/** @throws PlatformError `edition_limit`, naming the edition needed, where the edition has one namespace */
export function checkManyNamespaces(what: "use" | "change", name: string, rules: NamespaceRules): void {
  if (editions[rules.edition].namespaces === "many") return;
  const needed = editionNames.find((edition) => editions[edition].namespaces === "many") ?? "enterprise";
  const limit = `edition "${rules.edition}" has only "${rules.defaultNamespace}", more need edition "${needed}"`;
  throw new PlatformError("edition_limit", `Cannot ${what} namespace ${quote(name)}: ${limit}`);
}

/**
 * Whether functions of namespace `name` can be called and changed: true for the default one, and in editions with many
 * for those that exist.
 */
export function isUsable(name: string, rules: NamespaceRules): boolean {
  if (name === rules.defaultNamespace) return true;
  return editions[rules.edition].namespaces === "many" && !isReserved(name, rules) && rules.exists(name);
}

/** Whether namespace `name` may never hold functions. */
function isReserved(name: string, rules: NamespaceRules): boolean {
  return (
    name === "default" || name.startsWith("kube-") || name === rules.platformNamespace || rules.reserved.includes(name)
  );
}

/** The error for a namespace that does not exist. */
export function unknownNamespace(name: string, code: UnknownNamespace): PlatformError {
  return new PlatformError(code, `Cannot find namespace ${quote(name)}: it does not exist`);
}
