import { execFile, type ExecFileException } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { environment } from "../../runtime/process/settings.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 1_000,
  replicas: 1,
  oneMachine: false,
};

let server: TestNatsServer;
let directory: TempDirectory;
let access: readonly string[];
const place = (name: string): string => join(directory.path, name);

beforeAll(async () => {
  directory = await tempDirectory("backup-command");
  server = await openNatsServer({ users: true });
  const user = server.access(natsUser.doctor);
  const link = await NatsLink.open({ ...user, name: "test", pingInterval: 1_000 });
  await new NatsQueueStore(link, facts).provision([]);
  await link.close();
  await writeFile(place("password"), `${user.password}\n`);
  access = ["--nats-url", server.url, "--nats-user", user.user, "--nats-password-file", place("password")];
});
afterAll(async () => {
  await server?.close();
  await directory?.remove();
});

/** Runs one of the two commands to its end. */
async function run(main: "main.ts" | "main-restore.ts", ...flags: readonly string[]) {
  return new Promise<{ readonly code: ExecFileException["code"]; readonly text: string }>((resolve) => {
    const args = [join(repository, "scripts/backup", main), ...flags];
    execFile(process.execPath, args, { env: environment(), cwd: directory.path }, (err, stdout, stderr) =>
      resolve({ code: err === null ? 0 : err.code, text: stdout + stderr }),
    );
  });
}

test("npm run backup writes a directory that only its owner can read, npm run restore restores it", async () => {
  const { code, text } = await run("main.ts", "--to", "one", ...access);
  expect(text).toMatch(
    /^KV_calls: 0 entries, 0\.0 MB\nCB: .*\n.*\nKV_requests: .*\nDLQ: .*\nKV_queues: .*\nBackup of 6 streams in one\n$/,
  );
  expect(code).toBe(0);
  expect((await readdir(place("one"))).toSorted()).toEqual(
    ["CB", "DLQ", "KV_calls", "KV_queues", "KV_requests", "KV_results"]
      .map((name) => `${name}.snapshot`)
      .concat("backup.json")
      .toSorted(),
  );
  expect((await stat(place("one"))).mode & 0o777).toBe(0o700);
  expect((await stat(place("one/CB.snapshot"))).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(place("one/backup.json"), "utf8"))).toMatchObject({ format: 1, weir: "0.1.0" });

  const refused = await run("main-restore.ts", "--from", "one", ...access);
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("then use --replace") });
  const restored = await run("main-restore.ts", "--from", "one", "--replace", "--only", "DLQ", "CB", ...access);
  expect(restored.text).toMatch(/^CB: removed .*\nDLQ: removed .*\nCB: 0 entries\nDLQ: 0 entries\nRestored 2 streams/);
  expect(restored.code).toBe(0);
});

test("an obstacle is reported in one sentence", async () => {
  await writeFile(place("wrong"), "wrong\n");
  const failure = async (...flags: readonly string[]) => {
    const { code, text } = await run("main.ts", "--to", "two", ...flags);
    expect(code).toBe(1);
    return text;
  };
  const wrong = access.map((word) => (word === place("password") ? place("wrong") : word));
  expect(await failure(...wrong)).toBe(`Cannot reach the broker at "${server.url}": authorization violation\n`);
  expect(await failure("--nats-url", "nats://127.0.0.1:1")).toMatch(
    /^Cannot reach the broker at "nats:\/\/127\.0\.0\.1:1": .+\n$/,
  );
  expect(await failure("--nats-password-file", "x")).toContain("nats_password_file: expected nats_user with it");
  expect(await failure(...access, "--only", "Q_none")).toContain('Cannot take only "Q_none": there are KV_calls, CB');
  expect(await failure("--data", place("nowhere"))).toContain("no Weir has run there");
  expect(await failure("--data", "x", ...access)).toContain("cannot be used with option");
  expect(await readdir(directory.path)).not.toContain("two");
});
