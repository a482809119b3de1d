import { grammarRule, isFunctionName, isNamespaceName } from "../../api/grammar.ts";
import { usageError } from "../cli-error.ts";

/** A function as it is named on a command line. */
export interface GivenFunction {
  readonly name: string;
  /** Undefined is the gateway's default one. */
  readonly namespace: string | undefined;
}

/** What a call is sent to. */
export interface CallTarget extends GivenFunction {
  /** Path below the function and query, as they are sent: empty, or beginning with `/` or `?`. */
  readonly tail: string;
}

/**
 * Reads `NAME` or `NAME.NAMESPACE`.
 * @throws CliError for a name that no function can have
 */
export function parseFunctionName(text: string): GivenFunction {
  const dot = text.lastIndexOf(".");
  const name = dot === -1 ? text : text.slice(0, dot);
  const namespace = dot === -1 ? undefined : text.slice(dot + 1);
  if (!isFunctionName(name)) throw usageError(`Cannot use function name "${name}": ${grammarRule.function}`);
  if (namespace !== undefined && !isNamespaceName(namespace))
    throw usageError(`Cannot use namespace "${namespace}": ${grammarRule.namespace}`);
  return { name, namespace };
}

/**
 * Reads `NAME[.NAMESPACE][/path][?query]` and adds parameters `name=value` to the query. Path and query stay as they
 * are; only characters that no request line can hold, and `#`, are percent-encoded.
 * @throws CliError for a name that no function can have
 */
export function parseCallTarget(text: string, parameters: readonly string[]): CallTarget {
  const end = text.search(/[/?]/);
  const named = parseFunctionName(end === -1 ? text : text.slice(0, end));
  const tail = end === -1 ? "" : text.slice(end).replaceAll(/[^!-~]+|#+/g, encodeURIComponentOf);
  const query = parameters.map(encodeParameter).join("&");
  return { ...named, tail: query === "" ? tail : `${tail}${tail.includes("?") ? "&" : "?"}${query}` };
}

/** The path of a call below `/function/` or `/async-function/`. */
export function callPath({ name, namespace, tail }: CallTarget): string {
  return `${name}${namespace === undefined ? "" : `.${namespace}`}${tail}`;
}

function encodeParameter(parameter: string): string {
  const equals = parameter.indexOf("=");
  if (equals === -1) return encodeURIComponentOf(parameter);
  return `${encodeURIComponentOf(parameter.slice(0, equals))}=${encodeURIComponentOf(parameter.slice(equals + 1))}`;
}

/** Text that is not well-formed would throw. */
function encodeURIComponentOf(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
