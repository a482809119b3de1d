import { join } from "node:path";

import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";

import { platformCalls, type PlatformCalls } from "../support/platform-calls.ts";
import { openSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { runWeir, startWeir } from "../support/weir-process.ts";

const mebibyte = 1_048_576;
/** Bodies of 1 MiB would need a larger store than these disks have. */
const flags = ["--async-max-body=65536", "--edition=pro", "--max-inflight=16", "--log-level=warn"];

let disk: SmallDisk | undefined;
beforeEach<TestContext>(() => {
  disk = undefined;
});
afterEach(() => disk?.[Symbol.asyncDispose]());

async function open(context: TestContext, size: number): Promise<string> {
  disk = await openSmallDisk(size);
  if (disk === undefined) context.skip("this user may not mount a file system");
  return join(disk?.path ?? "", "data");
}

test("a small disk accepts as many calls as the start says, and SIGTERM ends Weir", async (context) => {
  const data = await open(context, 80 * mebibyte);
  await using weir = await startWeir({ data, flags });
  const fit = Number(/store +\d+ MB: ([\d ]+) calls at a time/.exec(weir.output())?.[1]?.replaceAll(" ", ""));
  expect(fit).toBeGreaterThan(1_000);
  expect(fit).toBeLessThan(8_000);
  const calls = platformCalls(weir.url);
  const deployed = await calls.send("PUT", "/system/functions", {
    headers: { authorization: weir.authorization, "content-type": "application/json" },
    body: JSON.stringify({ service: "count", image: "none", envProcess: server, envVars: { mode: "http" } }),
  });
  expect(deployed.status).toBe(202);

  const { accepted, refusals } = await fillUp(calls, 2 * fit);
  // The fill level that is known is up to a second old.
  expect(accepted.length).toBeGreaterThanOrEqual(fit);
  expect(accepted.length).toBeLessThan(1.5 * fit);
  expect(new Set(refusals)).toEqual(
    new Set([
      "429 no Cannot queue call: there are as many calls as there is room for their records; send it again when some have ended",
    ]),
  );
  for (const id of accepted) expect((await calls.ended(id, 60_000)).state).toBe("done");

  // Writes of the stop find no room, and the broker does not reply.
  disk?.fill(0);
  await weir.stop(30_000);
}, 180_000);

test("on an even smaller disk Weir does not start, and says what is free and what is needed", async (context) => {
  const data = await open(context, 12 * mebibyte);
  const refused = await runWeir({ data, flags });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^Cannot start nats-server: only \d+ MiB are free in ".*"; make at least 64 MiB free or choose another directory with --data\n$/,
  );
});

/** A server: it starts once, not for each call. */
const server = `node -e 'require("node:http").createServer((q, r) => r.end("ok")).listen(process.env.PORT)'`;

const withoutId = (body: Buffer): string =>
  body
    .toString()
    .replace(/ "[0-9a-f-]{36}"/, "")
    .trim();

/** Sends calls, 16 at a time, until 100 are refused or `most` were sent. */
async function fillUp(calls: PlatformCalls, most: number) {
  const accepted: string[] = [];
  const refusals: string[] = [];
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < most && refusals.length < 100) {
      sent += 1;
      const response = await calls.queue("count", { body: "1" });
      const id = response.headers.get("x-call-id");
      if (response.status === 202 && id !== null) accepted.push(id);
      else refusals.push(`${response.status} ${response.headers.get("x-call-queued")} ${withoutId(response.body)}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  return { accepted, refusals };
}
