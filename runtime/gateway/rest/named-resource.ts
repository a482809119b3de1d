import { realNamespace, type NamespaceRules } from "../../core/namespaces/namespace-rules.ts";
import { resourceOf } from "../access/function-callers.ts";

/** The resource of a function that a request names, under the real name of its namespace. */
export function functionResource(namespace: string | undefined, name: string, names: NamespaceRules): string {
  return resourceOf({ namespace: realNamespace(namespace, names), name });
}

/** The resource of everything in the namespace that a request names. */
export function namespaceResource(namespace: string | undefined, names: NamespaceRules): string {
  return `${realNamespace(namespace, names)}:*`;
}
