import { isUsable, type NamespaceRules } from "../../core/namespaces/namespace-rules.ts";
import { resourceOf } from "../access/function-callers.ts";

/**
 * The resource of a function that a request names, under the real name of its namespace. Whether that exists makes no
 * difference: who may do nothing in it is not told.
 */
export function functionResource(namespace: string | undefined, name: string, names: NamespaceRules): string {
  return resourceOf({ namespace: realNamespace(namespace, names), name });
}

/** The resource of everything in the namespace that a request names. */
export function namespaceResource(namespace: string | undefined, names: NamespaceRules): string {
  return `${realNamespace(namespace, names)}:*`;
}

/** The real name of the namespace that a request names, or implies by naming none. */
export function realNamespace(name: string | undefined, names: NamespaceRules): string {
  if (name === undefined) return names.defaultNamespace;
  return names.aliases.includes(name) && !isUsable(name, names) ? names.defaultNamespace : name;
}
