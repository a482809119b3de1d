import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { runWeir } from "../support/weir-process.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("settings");
});
afterEach(() => directory.remove());

async function configFile(text: string): Promise<string> {
  const path = join(directory.path, "weir.yaml");
  await writeFile(path, text);
  return path;
}

test("npm start reports all errors of its settings in one message, and ends with code 1", async () => {
  const config = await configFile("retry_attempts: 101\nmax_inflght: 4\nqueues:\n  slow: {timeout: soon}\n");
  const wrong = await runWeir({
    data: directory.path,
    flags: ["--edition", "gold", "--config", config, "--callback-window", "20s", "--prt", "80", "--wake-timeout=soon"],
    environment: { ack_wait: "10ms" },
  });
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toBe("");
  expect(wrong.stderr.trimEnd().split("\n")).toEqual([
    "Cannot start:",
    "  --prt: no such flag; did you mean --port?",
    "  max_inflght: no such setting (settings file); did you mean max_inflight?",
    '  ack_wait: expected a duration from 1s to 1h, got "10ms" (environment)',
    '  wake_timeout: expected a duration such as 30s or 1m30s, got "soon" (flag --wake-timeout)',
    '  edition: expected one of community, standard, pro, enterprise, got "gold" (flag --edition)',
    '  retry_attempts: expected a whole number, 0 to 100, got "101" (settings file)',
    '  queues.slow.timeout: expected a duration such as 30s or 1m30s, got "soon" (settings file)',
    '  callback_max_wait: expected at most callback_window (20s), got "1m"',
    '  callback_timeout: expected at most callback_window (20s), got "30s"',
  ]);
});

test("settings that npm start decides itself, or that exceed the edition, are refused", async () => {
  const config = await configFile("nats_url: nats://elsewhere\nqueues: {slow: {}, default: {replicas: 2}}\n");
  const wrong = await runWeir({ data: directory.path, flags: ["--edition", "community", "--config", config] });
  expect(wrong).toMatchObject({ code: 1, stdout: "" });
  expect(wrong.stderr.trimEnd().split("\n")).toEqual([
    "Cannot start:",
    "  nats_url: no such setting (settings file)",
    '  queues.slow: edition "community" has only queue "default", others need edition "enterprise"',
    '  queues.default.max_inflight: edition "community" runs 1 queued call at a time, got 2; more need edition "pro"',
  ]);
});

test.each([
  ["gateway", "--headers-timeout", "0"],
  ["queue-worker", "--queue", "A B"],
  ["queue-doctor", "--max-file-store", "1"],
])("%s started separately does the same in one line", async (name, flag, value) => {
  const config = await configFile("retry_attempts: 3\ncallback_window: 15m\nlog_hartbeat_period: 1s\n");
  const main = fileURLToPath(new URL(`../../runtime/${name}/main.ts`, import.meta.url));
  const missing = join(directory.path, "none");
  const flags = ["--config", config, flag, value, "--nats-password-file", missing, "--no-such-thing"];
  const { status, stderr, stdout } = spawnSync(process.execPath, [main, ...flags], {
    env: { ...environment(), nats_url: "nats://me:s3cret@127.0.0.1:1" },
    encoding: "utf8",
    timeout: 30_000,
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^Cannot start: .*\n$/);
  expect(stderr).not.toContain("s3cret");
  for (const part of [
    "--no-such-thing: no such flag",
    "log_hartbeat_period: no such setting (settings file); did you mean log_heartbeat_period?",
    "nats_url: expected addresses",
    `${flag.slice(2).replaceAll("-", "_")}: expected `,
    "nats_password_file: expected nats_user with it, got none",
    "nats_password_file: expected a file that can be read",
  ]) {
    expect(stderr).toContain(part);
  }
});
