import { editionNames, editions, type Edition } from "../api/editions.ts";
import { grammarRule, isNamespaceName } from "../api/grammar.ts";
import { PlatformError } from "../api/platform-error.ts";
import { quote } from "./quote.ts";

/** What decides which namespace a request means. */
export interface NamespaceRules {
  readonly defaultNamespace: string;
  /** Other names of the default namespace, which existing clients append. */
  readonly aliases: readonly string[];
  readonly platformNamespace: string;
  /** Refused beside `default`, `kube-*` and the platform's own. */
  readonly reserved: readonly string[];
  readonly edition: Edition;
}

/** What an unknown namespace is: a thing referred to (400) or the thing asked for (404). */
export type UnknownNamespace = "validation_failed" | "namespace_not_found";

/**
 * The real name of the namespace that a `/system` request names, or means by naming none (contract §1.4).
 * @throws PlatformError `validation_failed`, `namespace_reserved`, `edition_limit` or `unknown`
 */
export function resolveNamespace(name: string | undefined, rules: NamespaceRules, unknown: UnknownNamespace): string {
  if (name === undefined || name === rules.defaultNamespace || rules.aliases.includes(name))
    return rules.defaultNamespace;
  if (!isNamespaceName(name)) {
    throw new PlatformError("validation_failed", `Cannot read namespace name ${quote(name)}: ${grammarRule.namespace}`);
  }
  if (isReserved(name, rules)) {
    throw new PlatformError("namespace_reserved", `Cannot use namespace ${quote(name)}: it is reserved`);
  }
  if (editions[rules.edition].namespaces === "one") {
    throw new PlatformError(
      "edition_limit",
      `Cannot use namespace ${quote(name)}: edition "${rules.edition}" has only "${rules.defaultNamespace}", more need edition "${manyNamespaces}"`,
    );
  }
  throw new PlatformError(unknown, `Cannot find namespace ${quote(name)}: it does not exist`);
}

/** Whether functions may never live in namespace `name`. */
export function isReserved(name: string, rules: NamespaceRules): boolean {
  return (
    name === "default" || name.startsWith("kube-") || name === rules.platformNamespace || rules.reserved.includes(name)
  );
}

/** The smallest edition with several namespaces. */
export const manyNamespaces: Edition =
  editionNames.find((name) => editions[name].namespaces === "many") ?? "enterprise";
