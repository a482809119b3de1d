import { isFunctionName, isNamespaceName } from "../../api/grammar.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { quote } from "../../core/quote.ts";

/**
 * What is to be erased, of `function=NAME` or `function=NAME.NAMESPACE`.
 * @throws Error when it is something else
 */
export function parseErased(text: string, defaultNamespace: string): FunctionRef {
  const [what, named = "", ...more] = text.split("=");
  const [name = "", namespace = defaultNamespace, ...others] = named.split(".");
  if (what === "function" && isFunctionName(name) && isNamespaceName(namespace) && more.length + others.length === 0)
    return { namespace, name };
  throw new Error(`Cannot erase ${quote(text)}: expected function=NAME or function=NAME.NAMESPACE`);
}
