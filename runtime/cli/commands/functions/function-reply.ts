import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { CliError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";

/**
 * A function as a gateway returned it, if that has what every function has.
 * @throws CliError for another thing, as of a server that is no gateway
 */
export function requireFunction(address: string, value: unknown): FunctionStatus {
  if (isFunction(value)) return value;
  throw otherReply(address, "a function");
}

/** The same for a list of functions. */
export function requireFunctions(address: string, value: unknown): readonly FunctionStatus[] {
  if (Array.isArray(value) && value.every(isFunction)) return value;
  throw otherReply(address, "a list of functions");
}

/** The same for the names of namespaces. */
export function requireNames(address: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw otherReply(address, "a list of namespaces");
}

const texts = ["name", "namespace", "image", "createdAt"];
const conditionTexts = ["type", "status", "reason", "message"];

function isFunction(value: unknown): value is FunctionStatus {
  return (
    hasTexts(value, texts) &&
    Array.isArray(value["conditions"]) &&
    value["conditions"].every((condition) => hasTexts(condition, conditionTexts))
  );
}

function hasTexts(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return names.every((name) => Object.hasOwn(fields, name) && typeof fields[name] === "string");
}

function otherReply(address: string, what: string): CliError {
  const sentence = `Cannot read the reply of ${address}: it is not ${what}; is it a Weir gateway?`;
  return new CliError(exitCode.failed, sentence);
}
