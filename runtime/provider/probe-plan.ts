import { functionProtocol, type FunctionProtocol } from "../core/functions/function-limits.ts";
import { probeRules, type ProbeRule } from "../core/replicas/probe-rules.ts";
import type { KeyedTexts } from "../core/labels/keys.ts";

/** Timing and threshold of one probe of a replica. Times are milliseconds. */
export interface ProbePlan {
  /** Undefined: checks only that it accepts connections, or speaks HTTP/2 for `h2c`. */
  readonly path: string | undefined;
  readonly protocol: FunctionProtocol;
  readonly initialDelay: number;
  readonly period: number;
  readonly timeout: number;
  /** Failures in a row until the probe counts as failed. */
  readonly failureThreshold: number;
}

const period = 2_000;
const timeout = 1_000;
const failureThreshold = 3;

/**
 * The probes of a function (contract §2.1). Without `handlesProbes` a path is probed only if the function names it: an
 * image may start its program for any request.
 * @throws PlatformError `validation_failed` for an invalid annotation
 */
export function probePlans(
  annotations: KeyedTexts,
  handlesProbes: boolean,
): { readonly health: ProbePlan; readonly ready: ProbePlan } {
  const rules = probeRules(annotations);
  const protocol = functionProtocol(annotations);
  // Probes with a path use HTTP/1.1, which an HTTP/2 server need not speak.
  const hasPaths = handlesProbes && protocol !== "h2c";
  return {
    health: planOf(rules.health, protocol, hasPaths ? "/_/health" : undefined),
    ready: planOf(rules.ready, protocol, hasPaths ? "/_/ready" : undefined),
  };
}

function planOf(rule: ProbeRule, protocol: FunctionProtocol, path: string | undefined): ProbePlan {
  return {
    path: rule.path ?? path,
    protocol,
    initialDelay: (rule.initialDelaySeconds ?? 0) * 1_000,
    period: inMilliseconds(rule.periodSeconds) ?? period,
    timeout: inMilliseconds(rule.timeoutSeconds) ?? timeout,
    failureThreshold: rule.failureThreshold ?? failureThreshold,
  };
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
