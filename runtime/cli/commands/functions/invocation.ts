import { parseDuration } from "../../../api/duration.ts";
import { parseCallId } from "../../../api/grammar.ts";
import { isHeaderValue } from "../../../api/http-grammar.ts";
import { httpMethods, judgeMethod } from "../../../api/http-methods.ts";
import { header } from "../../../api/names.ts";
import { nearestName } from "../../../api/closest-name.ts";
import type { GivenBody } from "../../calls/call-body.ts";
import { parseCallHeaders, type CallHeaders } from "../../calls/call-headers.ts";
import { parseCallTarget, type CallTarget } from "../../calls/call-target.ts";
import { usageError } from "../../cli-error.ts";
import { defaultCallWait } from "../calls/wait-for-call.ts";

/** Options of `weir invoke`, as the parser reads them. */
export interface InvokeFlags {
  readonly data?: string;
  readonly file?: string;
  readonly method: string;
  readonly header?: readonly string[];
  readonly query?: readonly string[];
  readonly include?: boolean;
  readonly async?: boolean;
  readonly callback?: string;
  readonly id?: string;
  /** True without a value. */
  readonly wait?: string | true;
  readonly namespace?: string;
  readonly passwordStdin?: boolean;
}

/** What is called, and how. */
export interface Invocation {
  readonly target: CallTarget;
  readonly method: string;
  readonly headers: CallHeaders;
  readonly bodySource: GivenBody;
  /** Whether status and headers of the reply are written, too. */
  readonly head: boolean;
  /** In lower case. */
  readonly id: string | undefined;
  /** Whether the call is queued; `wait` is how long its end is waited for, milliseconds. */
  readonly queued: { readonly wait: number | undefined } | undefined;
}

/** Methods that have no body unless one is given. */
const withoutBody: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Reads what a command line says about a call.
 * @throws CliError when it contradicts itself, or no request could say it
 */
export function readInvocation(text: string, options: InvokeFlags): Invocation {
  const { callback, file, include = false, method, passwordStdin = false, wait } = options;
  const target = parseCallTarget(text, options.query ?? []);
  checkMethod(method);
  const headers = parseCallHeaders(options.header ?? []);
  const isQueued = options.async === true;
  if (isQueued && method !== "POST") throw usageError(`Cannot queue a call with --method ${method}: it is a POST`);
  for (const [flag, value] of Object.entries({ "--callback": callback, "--wait": wait }))
    if (value !== undefined && !isQueued) throw usageError(`Cannot use ${flag}: only calls with --async have one`);
  if (callback !== undefined && !isHeaderValue(callback))
    throw usageError(`Cannot use --callback "${callback}": it is not a URL`);
  if (passwordStdin && file === "-")
    throw usageError("Cannot read the body: standard input is the password; give it with --file or --data");
  return {
    target,
    method,
    headers: callback === undefined ? headers : { ...headers, [header.callbackUrl.toLowerCase()]: callback },
    bodySource: { data: options.data, file, byInput: !withoutBody.has(method) && !passwordStdin },
    head: include,
    id: idOf(options.id),
    queued: isQueued ? { wait: parseCallWait(wait) } : undefined,
  };
}

function checkMethod(method: string): void {
  if (judgeMethod(method) === "allowed") return;
  const near = nearestName(method, httpMethods);
  throw usageError(
    `Cannot use method "${method}": functions cannot be called with it${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}

function idOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const id = parseCallId(text);
  if (id === undefined) throw usageError(`Cannot use --id "${text}": the id of a call is a UUID`);
  return id;
}

/**
 * Reads `--wait [duration]`, milliseconds; undefined if it was not given.
 * @throws CliError when it is no duration
 */
export function parseCallWait(text: string | true | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text === true) return defaultCallWait;
  const wait = parseDuration(text);
  if (wait === undefined || wait === 0)
    throw usageError(`Cannot use --wait "${text}": it must be a duration, as in --wait=30s`);
  return wait;
}
