import { containerResources } from "../../../runtime/adapters/machine/docker/containers/container-resources.ts";
import { formatDuration, longestDuration, parseDuration } from "../../../runtime/api/duration.ts";
import { duration, port, whole } from "../../../runtime/settings/setting.ts";
import { checkResources } from "../../../runtime/core/functions/check-resources.ts";
import { functionLimits } from "../../../runtime/core/functions/function-limits.ts";
import { parseLogQuery } from "../../../runtime/core/replicas/log-query.ts";
import { parseQuantity, quantityScale } from "../../../runtime/core/functions/quantity.ts";
import { backOff, parseRetryAfter, retryDelay } from "../../../runtime/core/calls/retry.ts";
import { scaleRules } from "../../../runtime/core/scaling/scale-rules.ts";
import { latin1, mustHold, orRefused, type FuzzTarget } from "../fuzz-target.ts";

const now = Date.UTC(2026, 0, 1);
const rules = { attempts: 10, codes: [503], minWait: 10_000, maxWait: 120_000 };
const mostBytes = 2n ** 63n;

/** Throws unless every number that is read from `text` is a number, not negative and within its bounds. */
export function checkNumbers(text: string): void {
  const parsed = parseDuration(text);
  if (parsed !== undefined) {
    mustHold(isWhole(parsed, longestDuration), "a duration is no number of milliseconds");
    mustHold(parseDuration(formatDuration(parsed)) === parsed, "a duration is written otherwise than it is read");
  }
  const after = parseRetryAfter(text, now);
  mustHold(after === undefined || isWhole(after, Number.MAX_SAFE_INTEGER), "Retry-After is no number of milliseconds");
  mustHold(isWhole(retryDelay(rules, 0, after), 3_600_000), "a wait is no number of milliseconds");
  const asked = Number(text);
  if (asked >= 0)
    mustHold(
      isWhole(
        backOff(500, 60_000, asked, () => 1),
        60_000,
      ),
      "a back-off is out of bounds",
    );

  const quantity = parseQuantity(text);
  mustHold(quantity === undefined || (quantity >= 0n && quantity / quantityScale < mostBytes), "a quantity overflows");
  checkQuantities(text);
  checkSetting(duration("x", { about: "" }).parse(text), 0, longestDuration);
  checkSetting(whole("x", { about: "", min: 1, max: 100 }).parse(text), 1, 100);
  checkSetting(port("x", { about: "" }).parse(text), 0, 65_535);
  checkKeys(text);
}

function isWhole(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= most;
}

function checkSetting(
  outcome: { readonly value: number } | { readonly expected: string },
  min: number,
  max: number,
): void {
  if ("value" in outcome) mustHold(outcome.value >= min && isWhole(outcome.value, max), "a setting is out of bounds");
}

function checkQuantities(text: string): void {
  const resources = { memory: text, cpu: text };
  const accepted = orRefused(() => {
    checkResources({ limits: resources, requests: resources });
    return true;
  });
  if (accepted !== true) return;
  const {
    Memory = 0,
    NanoCpus = 0,
    CpuShares = 0,
    MemoryReservation = 0,
  } = containerResources(resources, resources, { memory: "512Mi", cpu: "1" }, 4);
  for (const value of [Memory, NanoCpus, CpuShares, MemoryReservation])
    mustHold(Number.isInteger(value) && value >= 0 && value <= 2 ** 63, "the engine is told what it cannot read");
}

function checkKeys(text: string): void {
  const labels = (name: string) => ({ [`com.service.scale.${name}`]: text });
  for (const name of ["min", "max", "target", "target-proportion", "zero-duration", "down.window"]) {
    const scale = orRefused(() => scaleRules(labels(name)));
    if (scale === undefined) continue;
    mustHold(1 <= scale.min && scale.min <= scale.max && scale.max <= 1_000, "min and max are out of bounds");
    mustHold(Number.isFinite(scale.target) && scale.target > 0, "a target is out of bounds");
    mustHold(scale.targetProportion > 0 && scale.targetProportion <= 1, "a proportion is out of bounds");
    mustHold(scale.zeroDuration >= 10_000 && isWhole(scale.downWindow, 300_000), "a window is out of bounds");
  }
  for (const name of [
    "retry.attempts",
    "retry.min_wait",
    "retry.max_wait",
    "retry.codes",
    "result.ttl",
    "history.bodies",
    "timeout",
    "concurrency.max",
  ]) {
    const limits = orRefused(() => functionLimits({ annotations: { [`com.service.${name}`]: text } }));
    if (limits === undefined) continue;
    const { attempts = 0, minWait = 0, maxWait = 0, codes = [] } = limits.retry;
    mustHold(
      isWhole(attempts, 100) && isWhole(minWait, longestDuration) && isWhole(maxWait, longestDuration),
      "retries",
    );
    mustHold(
      codes.every((code) => code >= 400 && isWhole(code, 599)),
      "a status is out of bounds",
    );
    mustHold(
      isWhole(limits.resultTtl, 86_400_000) &&
        isWhole(limits.historyBodies ?? 0, 604_800_000) &&
        isWhole(limits.timeout ?? 0, 86_400_000) &&
        isWhole(limits.concurrencyMax, 100_000),
      "a limit is out of bounds",
    );
  }
  const limits = orRefused(() => functionLimits({ envVars: { exec_timeout: text } }));
  mustHold(isWhole(limits?.execTimeout ?? 0, longestDuration), "exec_timeout is out of bounds");
  const query = orRefused(() => parseLogQuery({ tail: text })) ?? orRefused(() => parseLogQuery({ since: text }));
  mustHold(isWhole(query?.tail ?? 1, 10_000) && (query?.tail ?? 1) > 0, "tail is out of bounds");
  mustHold(Number.isInteger(query?.since ?? 0), "since is no time");
}

export const numbers: FuzzTarget = {
  name: "numbers",
  promises:
    "Retry-After, durations, quantities and numbers of settings and labels are never NaN, negative or overflowing",
  maxBytes: 300,
  words: [
    ..."0 1 - + . , e E 1e9 ms s m h 30s Ki Mi Gi Ei k M 1e99 NaN Infinity 0x10 GMT Z T : 9007199254740993 999999999".split(
      " ",
    ),
    ..."Jan Feb Fri, Thu, 2026 1969 31 -01 +14:00 400 599 2026-02-30".split(" "),
    " ",
    "\t",
  ],
  seeds: [
    "1m30s",
    "500ms",
    "90",
    "0.001h",
    "Fri, 02 Jan 2026 00:00:00 GMT",
    "128Mi",
    "0.5",
    "250m",
    "999999999999999Ei",
    "1e9",
    "0.9",
    "408,429, 500",
    "2026-01-31T12:00:00.123456789+14:00",
    "-1",
    "",
  ],
  run: (input) => checkNumbers(latin1(input)),
};
