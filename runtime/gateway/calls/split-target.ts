import { isFunctionName, isNamespaceName } from "../../api/grammar.ts";

/** The parts of a call's target. */
export interface SplitTarget {
  /** As spelt in the target, `<name>` or `<name>.<namespace>`, so that one look-up in the function table is enough. */
  readonly key: string;
  readonly name: string;
  /** Undefined = the default one. */
  readonly namespace: string | undefined;
  /** The bytes after the function's name, without query; begins with `/` or is empty. */
  readonly path: string;
  /** Without `?`; undefined = none, empty = a bare `?`. */
  readonly query: string | undefined;
}

/** Prefix of synchronous calls' targets. */
export const functionPrefix = "/function/";

/** Prefix of asynchronous calls' targets. */
export const asyncFunctionPrefix = "/async-function/";

/**
 * Splits the raw target of a call without decoding anything: `<prefix><name>[.<namespace>][/path][?query]`, the
 * namespace after the last dot. Undefined when no valid name follows the prefix. `target` begins with `prefix`.
 */
export function splitTarget(target: string, prefix: string): SplitTarget | undefined {
  const start = prefix.length;
  const question = target.indexOf("?", start);
  const pathEnd = question === -1 ? target.length : question;
  const slash = target.indexOf("/", start);
  const keyEnd = slash === -1 || slash > pathEnd ? pathEnd : slash;

  const key = target.slice(start, keyEnd);
  const dot = key.lastIndexOf(".");
  const name = dot === -1 ? key : key.slice(0, dot);
  const namespace = dot === -1 ? undefined : key.slice(dot + 1);
  if (!isFunctionName(name) || (namespace !== undefined && !isNamespaceName(namespace))) return undefined;

  return {
    key,
    name,
    namespace,
    path: target.slice(keyEnd, pathEnd),
    query: question === -1 ? undefined : target.slice(question + 1),
  };
}
