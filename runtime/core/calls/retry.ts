/** How often and when a call is retried. Durations are milliseconds. */
export interface RetryRules {
  /** Retries after the first run. */
  readonly attempts: number;
  readonly codes: readonly number[];
  readonly minWait: number;
  readonly maxWait: number;
}

const longestRetryAfter = 3_600_000;

/**
 * How long to wait before retry `retry`, counted from 0: min(minWait · 2^retry, maxWait) × a random 0.5 to 1, or what
 * `Retry-After` asked for, at least `minWait` and at most an hour.
 */
export function retryDelay(
  rules: RetryRules,
  retry: number,
  retryAfter: number | undefined,
  random: () => number = Math.random,
): number {
  if (retryAfter !== undefined) return Math.round(Math.min(Math.max(retryAfter, rules.minWait), longestRetryAfter));
  return backOff(rules.minWait, rules.maxWait, retry, random);
}

/** min(first · 2^n, longest) × a random 0.5 to 1, in whole milliseconds. */
export function backOff(first: number, longest: number, n: number, random: () => number = Math.random): number {
  return Math.round(Math.min(first * 2 ** Math.min(n, 40), longest) * (0.5 + 0.5 * random()));
}

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110 §10.2.3: seconds or an HTTP date), or undefined when it
 * is malformed or absent.
 */
export function parseRetryAfter(value: string | undefined, now: number = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
