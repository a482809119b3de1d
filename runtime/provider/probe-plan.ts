import { probeRules, type ProbeRule } from "../core/probe-rules.ts";
import type { KeyedTexts } from "../core/keys.ts";

/** How often and how patiently a replica is asked. Times are milliseconds. */
export interface ProbePlan {
  readonly path: string;
  readonly initialDelay: number;
  readonly period: number;
  readonly timeout: number;
  /** Failures in a row until the answer counts as no. */
  readonly failureThreshold: number;
}

const period = 2_000;
const timeout = 1_000;
const failureThreshold = 3;

/**
 * The probes of a function (contract §2.1).
 * @throws PlatformError `validation_failed` for an annotation that cannot be used
 */
export function probePlans(annotations: KeyedTexts): { readonly health: ProbePlan; readonly ready: ProbePlan } {
  const rules = probeRules(annotations);
  return { health: planOf(rules.health, "/_/health"), ready: planOf(rules.ready, "/_/ready") };
}

function planOf(rule: ProbeRule, path: string): ProbePlan {
  return {
    path: rule.path ?? path,
    initialDelay: (rule.initialDelaySeconds ?? 0) * 1_000,
    period: inMilliseconds(rule.periodSeconds) ?? period,
    timeout: inMilliseconds(rule.timeoutSeconds) ?? timeout,
    failureThreshold: rule.failureThreshold ?? failureThreshold,
  };
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
