import { describe, expect, test } from "vitest";

import { drainTimeoutOf } from "../../../runtime/settings/drain-settings.ts";
import { flagsOf, readSettings } from "../../../runtime/settings/read-settings.ts";
import { settingNameOf } from "../../../runtime/settings/setting-rules.ts";
import { startSettings } from "../../../runtime/settings/start-settings.ts";
import { gatewayDrainTimeout, gatewayRules, gatewaySettings } from "../../../runtime/gateway/settings.ts";
import { hostDrainTimeout, hostRules, hostSettings, longestRun } from "../../../runtime/host/settings.ts";
import { tlsRule } from "../../../runtime/process/file-rules.ts";
import { readCommandLine } from "../../../runtime/process/command-line.ts";
import { declareQueues } from "../../../runtime/queue-doctor/declare-queues.ts";
import { queueDoctorRules, queueDoctorSettings, storeRule } from "../../../runtime/queue-doctor/settings.ts";
import { queueWorkerRules, queueWorkerSettings, workerDrainTimeout } from "../../../runtime/queue-worker/settings.ts";
import { exampleFile } from "../../../scripts/settings-doc/example-file.ts";
import { processes } from "../../../scripts/settings-doc/processes.ts";
import { writtenFiles } from "../../../scripts/settings-doc/written-files.ts";
import { staleAmong } from "../../../scripts/written-file.ts";
import type { SettingRule } from "../../../runtime/settings/setting-rules.ts";
import type { Settings, Values } from "../../../runtime/settings/setting.ts";

const nothingTyped = { values: {}, unknown: [], withoutValue: [], words: [] };

function problemsOf<S extends Settings>(
  settings: S,
  rules: readonly SettingRule<Values<S>>[],
  environment: Record<string, string>,
): string {
  try {
    startSettings(settings, {
      typed: nothingTyped,
      environment,
      readFile: () => new Uint8Array(),
      rules,
      sharedFile: false,
    });
  } catch (err) {
    return err instanceof Error ? err.message.replace("Cannot start: ", "") : String(err);
  }
  return "";
}

test("docs/reference/settings.md and the list of names equal the tables; else run npm run settings-doc", async () => {
  expect(
    (await staleAmong(await writtenFiles(), new URL("../../../", import.meta.url))).map(({ path }) => path),
  ).toEqual([]);
});

describe.each(processes)("$name", ({ settings }) => {
  test("its keys are its names, and its defaults are valid and keep its rules", () => {
    for (const [key, { name, about }] of Object.entries(settings)) {
      expect(settingNameOf(key)).toBe(name);
      expect(about).toMatch(/^\S.*[^.]$/);
    }
    readSettings(settings, {});
  });
});

test("the file of the documentation is accepted, with the documented values", () => {
  const { settings } = startSettings(hostSettings, {
    typed: { ...nothingTyped, values: { config: "weir.yaml" } },
    environment: {},
    readFile: () => Buffer.from(exampleFile),
    rules: [...hostRules, tlsRule],
    sharedFile: false,
  });
  const queues = declareQueues(settings);
  expect(queues).toMatchObject([
    { name: "default", maxInflight: 8, timeout: 60_000, retry: { attempts: 10 } },
    { name: "reports", maxInflight: 2, timeout: 600_000, retry: { attempts: 3, codes: [429, 503] } },
  ]);
  expect(longestRun(settings, queues)).toBe(600_000);
  expect(hostDrainTimeout(settings)).toBe(0 + 60_000 + 5_000 + 60_000 + 10_000 + 15_000);
});

test.each<[environment: Readonly<Record<string, string>>, drain: number]>([
  [{}, 30_000],
  [{ upstream_timeout: "5s" }, 30_000],
  [{ upstream_timeout: "2m" }, 120_000],
  [{ upstream_timeout: "10s", timeout_max: "20s" }, 20_000],
  [{ upstream_timeout: "2m", drain_timeout: "5s" }, 5_000],
  [{ drain_timeout: "" }, 30_000],
  [{ drain_timeout: "0" }, 0],
])("with %j a stop waits %d ms for calls in flight", (environment, drain) => {
  const settings = readSettings(gatewaySettings, { environment });
  expect(drainTimeoutOf(settings)).toBe(drain);
  expect(gatewayDrainTimeout(settings)).toBe(5_000 + drain + 5_000);
  expect(workerDrainTimeout(readSettings(queueWorkerSettings, { environment }))).toBe(drain + 10_000);
});

test("every flag of the host is known to its command line", () => {
  const flags = flagsOf(hostSettings);
  const argv = flags.flatMap(({ name }) => [`--${name}`, "x"]);
  const typed = readCommandLine({ name: "host", about: "", version: "1", flags }, argv);
  expect(Object.keys(typed.values).toSorted()).toEqual(flags.map(({ name }) => name).toSorted());
  expect([...typed.unknown, ...typed.withoutValue, ...typed.words]).toEqual([]);
});

describe("settings that contradict each other", () => {
  test.each([
    [{ retry_min_wait: "3m" }, 'retry_min_wait: expected at most retry_max_wait (2m), got "3m"'],
    [{ call_max_age: "1m" }, 'retry_max_wait: expected at most call_max_age (1m), got "2m"'],
    [{ function_namespace: "weir" }, /^function_namespace: expected another name than .*, got "weir"$/],
    [{ function_namespace: "kube-x" }, /^function_namespace: expected another name than .*, got "kube-x"$/],
  ])("queue-doctor: %j", (environment, problem) => {
    expect(problemsOf(queueDoctorSettings, queueDoctorRules, environment)).toMatch(problem);
  });

  test("queue-doctor: room for calls of the largest size", () => {
    const environment = { async_max_body: "67108864", max_file_store: "67108864" };
    expect(problemsOf(queueDoctorSettings, [storeRule], environment)).toBe(
      'max_file_store: expected at least 1684275200 with async_max_body 67108864, got "67108864"',
    );
    expect(problemsOf(queueDoctorSettings, [storeRule], {})).toBe("");
  });

  test.each([
    [{ callback_min_wait: "2m" }, 'callback_min_wait: expected at most callback_max_wait (1m), got "2m"'],
    [
      { callback_window: "20s" },
      'callback_max_wait: expected at most callback_window (20s), got "1m"; callback_timeout: expected at most callback_window (20s), got "30s"',
    ],
    [{ queue: "A B" }, /^queue: expected a name: .*, got "A B" \(environment\)$/],
    [
      { gateway_url: "http://me:s3cret@gateway" },
      'gateway_url: expected an address such as "https://weir.example.com" without user, query and fragment, got "http://…@gateway" (environment)',
    ],
  ])("queue-worker: %j", (environment, problem) => {
    expect(problemsOf(queueWorkerSettings, queueWorkerRules, environment)).toMatch(problem);
  });

  test.each([
    [
      { reserved_namespaces: "a,functions" },
      'reserved_namespaces: expected no function_namespace in it, got "functions"',
    ],
    [{ trusted_proxies: "10.0.0.0/40" }, /^trusted_proxies: expected addresses or ranges/],
    [{ allowed_origins: "https://a.example/" }, /^allowed_origins: expected origins such as/],
    [{ callback_allow: "Hooks.internal" }, /^callback_allow: expected hosts in lower case/],
    [{ upstream_timeout: "2h" }, 'upstream_timeout: expected at most timeout_max (1h), got "2h"'],
    [{ drain_timeout: "61m" }, 'drain_timeout: expected at most timeout_max (1h), got "1h1m"'],
    [{ drain_timeout: "soon" }, 'drain_timeout: expected a duration such as 30s or 1m30s, got "soon" (environment)'],
    [{ public_url: "weir.example.com" }, /^public_url: expected an address such as/],
    [{ headers_timeout: "0" }, 'headers_timeout: expected a duration from 100ms to 5m, got "0" (environment)'],
    [
      { nats_url: "nats://me:s3cret@broker:4222" },
      /^nats_url: expected addresses such as .*, got "nats:\/\/…@broker:4222" \(environment\)$/,
    ],
    [
      { nats_url: "nats://a:4222, nats://b:42222222 http://c" },
      /, got "nats:\/\/b:42222222,http:\/\/c" \(environment\)$/,
    ],
    [{ nats_url: "nats://a nats://me:s3 cret@b" }, /, got "nats:\/\/…@b" \(environment\)$/],
    [{ nats_url: " , " }, /^nats_url: expected addresses such as .*, got " , " \(environment\)$/],
    [{ allowed_origins: "https://a.example,b.example" }, /separated by commas, got "b\.example" \(environment\)$/],
  ])("gateway: %j", (environment, problem) => {
    expect(problemsOf(gatewaySettings, gatewayRules, environment)).toMatch(problem);
  });

  test("valid lists of addresses, origins and hosts are accepted", () => {
    const environment = {
      trusted_proxies: "10.0.0.1, fd00::/8",
      allowed_origins: "https://a.example,http://b:8080",
      callback_allow: "hooks.internal,hooks:8080,10.0.0.0/8,::1",
      public_url: "https://weir.example.com/base",
      nats_url: "nats://a:4222, tls://[::1]:4222 b",
    };
    expect(problemsOf(gatewaySettings, gatewayRules, environment)).toBe("");
  });

  test("host: ports are different unless 0", () => {
    expect(problemsOf(hostSettings, hostRules, { port: "8082", nats_port: "8082" })).toBe(
      'admin_port: expected another port than port, got "8082"; nats_port: expected another port than port, got "8082"',
    );
    expect(problemsOf(hostSettings, hostRules, { port: "0", admin_port: "0" })).toBe("");
  });
});
