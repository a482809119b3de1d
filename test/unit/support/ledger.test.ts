import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { accountOf, openLedger, readLedger, type Sent } from "../../support/ledger.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const sent: Sent = {
  kind: "sent",
  id: "a",
  sequence: 0,
  class: "accepted",
  sentAt: 10,
  answeredAt: 12,
  callback: true,
  status: 202,
};

test("the files of several writers are read as one account, in the order of time", async () => {
  await using directory = await tempDirectory("ledger");
  const sender = openLedger(directory.path, "sender");
  const server = openLedger(directory.path, "function");
  server.append({ kind: "run-started", run: "2", id: "b", at: 30 });
  server.append({ kind: "run-started", run: "1", id: "a", at: 20, worker: "w", attempt: 1 });
  server.append({ kind: "run-ended", run: "1", at: 25, status: 200 });
  sender.append(sent);
  sender.close();
  server.close();

  const account = readLedger(directory.path);
  expect(account.sent).toEqual([sent]);
  expect(account.callbacks).toEqual([]);
  expect(account.runs).toEqual([
    { run: "1", id: "a", at: 20, worker: "w", attempt: 1, endedAt: 25, status: 200 },
    { run: "2", id: "b", at: 30 },
  ]);
});

test("a writer that reopens its file appends to it, and writes nothing once closed", async () => {
  await using directory = await tempDirectory("ledger");
  for (const id of ["a", "b"]) {
    const writer = openLedger(directory.path, "sender");
    writer.append({ ...sent, id });
    writer.close();
    writer.append({ ...sent, id: "late" });
  }

  expect(readLedger(directory.path).sent.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a truncated last line is skipped, damage elsewhere is an error", async () => {
  await using directory = await tempDirectory("ledger");
  const writer = openLedger(directory.path, "sender");
  writer.append(sent);
  writer.close();
  const file = join(directory.path, "sender.ndjson");
  appendFileSync(file, '{"kind":"sent","id":"b');
  expect(readLedger(directory.path).sent).toEqual([sent]);

  appendFileSync(file, "\n");
  expect(() => readLedger(directory.path)).toThrow(SyntaxError);
});

test("an end without a beginning is no run", () => {
  expect(accountOf([{ kind: "run-ended", run: "1", at: 1 }]).runs).toEqual([]);
});
