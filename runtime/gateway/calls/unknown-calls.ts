import { nearestName } from "../../api/closest-name.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { NamesOf } from "../../core/functions/function-not-found.ts";
import type { Log } from "../../process/log.ts";
import { asyncFunctionPrefix, functionPrefix, splitTarget } from "./split-target.ts";

/**
 * Milliseconds per log line and per `maxLookups` comparisons of names: bounded, as any client can call unknown names.
 */
const pause = 1_000;
const maxLookups = 20;

export interface UnknownCallsOptions {
  readonly log: Log;
  readonly namesOf: NamesOf;
  readonly defaultNamespace: string;
  /** Other names of the default namespace. */
  readonly aliases: readonly string[];
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/**
 * Logs which function a call with an unknown name was probably meant for, at most once a second. The caller is not
 * told: anyone may call and try names one by one, but must not be given the names of others' functions.
 */
export function logUnknownCalls(options: UnknownCallsOptions): (target: string | undefined, err: unknown) => void {
  const { log, namesOf, defaultNamespace, aliases, now = Date.now } = options;
  let next = 0;
  let lookups = { since: 0, count: 0 };
  return (target = "", err) => {
    if (!(err instanceof PlatformError) || err.code !== "function_not_found" || now() < next) return;
    const prefix = [functionPrefix, asyncFunctionPrefix].find((one) => target.startsWith(one));
    const named = prefix === undefined ? undefined : splitTarget(target, prefix);
    if (named === undefined) return;
    if (now() >= lookups.since + pause) lookups = { since: now(), count: 0 };
    if (lookups.count >= maxLookups) return;
    lookups.count += 1;
    const namespace =
      named.namespace === undefined || aliases.includes(named.namespace) ? defaultNamespace : named.namespace;
    const near = nearestName(named.name, namesOf(namespace));
    if (near === undefined) return;
    next = now() + pause;
    log.info(
      { functionName: named.name, namespace, near },
      "unknown function was called; one with a similar name exists",
    );
  };
}
