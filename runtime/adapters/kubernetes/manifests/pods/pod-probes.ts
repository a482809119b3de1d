import { functionProtocol } from "../../../../core/functions/function-limits.ts";
import { functionPort } from "../../../../core/functions/function-port.ts";
import type { KeyedTexts } from "../../../../core/labels/keys.ts";
import { probeRules, type ProbeRule } from "../../../../core/replicas/probe-rules.ts";
import type { Probe } from "../object-types.ts";

/** The probes of a function's container. */
export interface PodProbes {
  readonly readinessProbe: Probe;
  readonly livenessProbe?: Probe;
}

/** Seconds. Readiness is probed often, as callers wait for it; health only finds processes that hang. */
const readyPeriod = 1;
const healthPeriod = 10;

/**
 * Probes as the annotations say (contract §2.1). By default readiness is a TCP connection, and health is not probed.
 * @throws PlatformError `validation_failed` for an annotation that cannot be used
 */
export function podProbes(annotations: KeyedTexts): PodProbes {
  const { health, ready } = probeRules(annotations);
  const speaksHttp1 = functionProtocol(annotations) === "http1";
  return {
    readinessProbe: probe(ready, isSet(ready) && speaksHttp1 ? "/_/ready" : undefined, readyPeriod),
    ...(isSet(health) ? { livenessProbe: probe(health, speaksHttp1 ? "/_/health" : undefined, healthPeriod) } : {}),
  };
}

function isSet(rule: ProbeRule): boolean {
  return Object.values(rule).some((value) => value !== undefined);
}

function probe(rule: ProbeRule, defaultPath: string | undefined, period: number): Probe {
  const path = rule.path ?? defaultPath;
  return {
    ...(path === undefined ? { tcpSocket: { port: functionPort } } : { httpGet: { path, port: functionPort } }),
    initialDelaySeconds: rule.initialDelaySeconds ?? 0,
    periodSeconds: rule.periodSeconds ?? period,
    timeoutSeconds: rule.timeoutSeconds ?? 1,
    failureThreshold: rule.failureThreshold ?? 3,
  };
}
