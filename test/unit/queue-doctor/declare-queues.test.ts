import { describe, expect, test } from "vitest";

import { collectSettings, SettingsError } from "../../../runtime/settings/read-settings.ts";
import { declareQueues } from "../../../runtime/queue-doctor/declare-queues.ts";
import { queueDoctorRules, queueDoctorSettings } from "../../../runtime/queue-doctor/settings.ts";

const read = (file: Record<string, unknown>) => collectSettings(queueDoctorSettings, { file }, queueDoctorRules);

function declared(file: Record<string, unknown>) {
  const { values, problems } = read(file);
  if (problems.length > 0) throw new SettingsError(problems);
  return declareQueues(values);
}

describe("queues of the settings", () => {
  test("the default queue exists without an entry", () => {
    expect(declared({})).toEqual([
      {
        name: "default",
        replicas: 1,
        maxInflight: 10,
        timeout: 30_000,
        ackWait: 60_000,
        maxLength: 1_000_000,
        strict: false,
        retry: { attempts: 10, codes: [408, 429, 500, 502, 503, 504], minWait: 10_000, maxWait: 120_000 },
      },
    ]);
  });

  test("an entry states what differs, the rest comes from the settings of the same name", () => {
    const [first, second, third] = declared({
      edition: "enterprise",
      upstream_timeout: "1m",
      max_inflight: 4,
      retry_attempts: 2,
      queues: {
        slow: { timeout: "10m", ack_wait: "30s", replicas: 3, max_length: 5, retry: { codes: [503], min_wait: "1s" } },
        ordered: { strict: true },
        default: { max_inflight: 8 },
      },
    });
    expect(first).toMatchObject({ name: "default", maxInflight: 8, timeout: 60_000, retry: { attempts: 2 } });
    expect(second).toMatchObject({ name: "ordered", maxInflight: 1, strict: true });
    expect(third).toMatchObject({
      name: "slow",
      maxInflight: 4,
      replicas: 3,
      timeout: 600_000,
      ackWait: 30_000,
      maxLength: 5,
      retry: { attempts: 2, codes: [503], minWait: 1_000, maxWait: 120_000 },
    });
    expect(declared({ queues: { default: null } })).toHaveLength(1);
  });

  test("all problems are reported together, each with its path", () => {
    const { problems } = read({
      edition: "enterprise",
      queues: {
        "A B": {},
        slow: { timeout: "soon", max_inflght: 2, retry: { attempts: 101, codes: "5xx", color: "red" } },
        flat: 3,
        other: { retry: [1] },
      },
      ack_wait: "10ms",
    });
    expect(problems).toEqual([
      'ack_wait: expected a duration from 1s to 1h, got "10ms" (settings file)',
      'queues: expected a name: a to z, 0 to 9, "_" and "-", beginning with a letter or digit, at most 63 characters, got "A B"',
      "queues.slow.max_inflght: no such setting; did you mean max_inflight?",
      "queues.slow.retry.color: no such setting",
      'queues.slow.timeout: expected a duration such as 30s or 1m30s, got "soon" (settings file)',
      'queues.slow.retry.attempts: expected a whole number, 0 to 100, got "101" (settings file)',
      'queues.slow.retry.codes: expected statuses from 400 to 599, separated by commas, got "5xx" (settings file)',
      "queues.flat: expected a mapping of settings, got a number",
      "queues.other.retry: expected a mapping of settings, got a list",
    ]);
    expect(read({ queues: ["slow"] }).problems).toEqual(["queues: expected a mapping of names, got a list"]);
  });

  test.each([
    [
      "community",
      { max_inflight: 2 },
      'max_inflight: edition "community" runs 1 queued call at a time, got 2; more need edition "pro"',
    ],
    [
      "standard",
      { queue_workers: 3 },
      'max_inflight: edition "standard" runs 1 queued call at a time, got 3; more need edition "pro"',
    ],
    [
      "community",
      { queues: { default: { max_inflight: 2 } } },
      'queues.default.max_inflight: edition "community" runs 1 queued call at a time, got 2; more need edition "pro"',
    ],
    [
      "pro",
      { queues: { slow: {} } },
      'queues.slow: edition "pro" has only queue "default", others need edition "enterprise"',
    ],
  ])("edition %s refuses %j", (edition, more, problem) => {
    expect(read({ edition, ...more }).problems).toEqual([problem]);
  });

  test.each([
    ["community", 1],
    ["standard", 1],
    ["pro", 10],
    ["enterprise", 10],
  ])("without max_inflight a queue-worker of edition %s runs %i at once", (edition, slots) => {
    expect(declared({ edition })).toMatchObject([{ name: "default", maxInflight: slots }]);
  });

  test("named queues have that default, too; strict ones have 1", () => {
    const queues = { slow: {}, ordered: { strict: true } };
    expect(declared({ queues })).toMatchObject([
      { name: "default", maxInflight: 10 },
      { name: "ordered", maxInflight: 1 },
      { name: "slow", maxInflight: 10 },
    ]);
    expect(declared({ queues: { default: { strict: true } } })).toMatchObject([{ maxInflight: 1 }]);
  });

  test("edition pro has no limit of calls at once", () => {
    expect(declared({ edition: "pro", max_inflight: 50, queue_workers: 2 })).toMatchObject([
      { maxInflight: 50, replicas: 2 },
    ]);
  });

  test.each([
    [{ min_wait: "3m" }, 'queues.q.retry.min_wait: expected at most max_wait (2m), got "3m"'],
    [{ max_wait: "20h" }, 'queues.q.retry.max_wait: expected at most call_max_age (10h), got "20h"'],
  ])("waits of an entry must keep the rules of the settings: %j", (retry, problem) => {
    const file = { edition: "enterprise", call_max_age: "10h", queues: { q: { retry } } };
    expect(read(file).problems).toEqual([problem]);
  });

  test("a strict queue runs one call at a time", () => {
    const queues = { q: { strict: true, max_inflight: 2 }, default: { strict: true } };
    expect(read({ edition: "enterprise", queues }).problems).toEqual([
      'queues.q.max_inflight: expected 1 with strict, got "2"',
    ]);
  });
});
