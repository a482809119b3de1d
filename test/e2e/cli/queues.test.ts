import { randomUUID } from "node:crypto";

import Type, { type Static, type TSchema } from "typebox";
import { Parse } from "typebox/value";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { CallDetail } from "../../../runtime/api/schemas/history/call-detail.ts";
import { CallPageView } from "../../../runtime/api/schemas/history/call-page.ts";
import { CallSummary } from "../../../runtime/api/schemas/history/call-summary.ts";
import { DeadLetterView, QueueStatus } from "../../../runtime/api/schemas/queue-status.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { platformCalls, type PlatformCalls } from "../../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Queued calls, queues and dead letters, as processes, against a real Weir with its broker. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
let calls: PlatformCalls;
const run = (...args: readonly string[]): Promise<CommandEnd> =>
  person.run(args, { environment: gatewayEnvironment(weir) });

beforeAll(async () => {
  data = await tempDirectory("cli-queues");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
  calls = platformCalls(weir.url);
  await deploy("upper", "tr a-z A-Z");
  await deploy("slow", "sleep 600");
  await deploy("broken", "false");
  await deploy("gone", "false");
  // It starts once Weir serves; until it has read everything, commands say so.
  const isRead = async (): Promise<boolean> => {
    const reply = await calls.send("GET", "/system/calls", { headers: { authorization: weir.authorization } });
    return reply.status === 200 && Parse(CallPageView, JSON.parse(reply.body.toString())).history.complete;
  };
  await eventually(isRead, { what: "the history of calls" });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

/** Deploys a function whose failed calls are given up at once. */
async function deploy(service: string, envProcess: string): Promise<void> {
  const annotations = { "com.service.retry.attempts": "0" };
  const reply = await calls.send("PUT", "/system/functions?wait=120s", {
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service, image: service, envProcess, annotations }),
  });
  expect([reply.status, reply.body.toString()]).toEqual([202, ""]);
}

/** The JSON of a command that succeeded, which is what the schema says. */
function jsonOf<Schema extends TSchema>(schema: Schema, { code, stdout, stderr }: CommandEnd): Static<Schema> {
  expect([code, stderr]).toEqual([0, ""]);
  return Parse(schema, JSON.parse(stdout));
}

describe("weir calls", () => {
  test("wait shows a call that is done, with its timeline, and result prints its output byte for byte", async () => {
    const body = Buffer.from([0, 0x61, 0xff, 0x0a, 0x0d, 0x1b]);
    const id = await calls.accepted("upper", { body });
    const { code, stdout, stderr } = await run("calls", "wait", id);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`^call +${id}\nfunction +upper\\.functions\nqueue +default\nstate +done\n`));
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\+0\.000s +accepted +queue "default"$/m);
    expect(stdout).toMatch(/^\S+ \S+ +\+\S+ +run 1 +status 200 after \S+s$/m);
    expect(stdout).toMatch(/^\S+ \S+ +\+\S+ +done$/m);

    const sink = await person.run(["calls", "result", id], {
      environment: gatewayEnvironment(weir),
      encoding: "latin1",
    });
    expect([sink.code, sink.stderr]).toEqual([0, ""]);
    expect(Buffer.from(sink.stdout, "latin1")).toEqual((await calls.result(id)).body);
    expect(Buffer.from(sink.stdout, "latin1")).toEqual(Buffer.from([0, 0x41, 0xff, 0x0a, 0x0d, 0x1b]));
  });

  test("show -o json is the record of the API with what the history adds, and -o name its id", async () => {
    const id = await calls.accepted("upper", { body: "hi" });
    await calls.ended(id);
    const shown = await run("call", "get", id.toUpperCase(), "-o", "json");
    expect(jsonOf(CallDetail, shown)).toMatchObject({ ...(await calls.status(id)), kind: "async" });
    expect(await run("calls", "show", id, "-o", "name")).toEqual({ code: 0, stdout: `${id}\n`, stderr: "" });
  });

  test("a call that failed is exit code 7: its record, or its output, is on stdout", async () => {
    const id = await calls.accepted("broken");
    const waited = await run("calls", "wait", id);
    expect(waited.code).toBe(7);
    expect(waited.stdout).toMatch(/^state +failed: exhausted$/m);
    expect(waited.stderr).toBe(`Call "${id}" ended failed: exhausted, status 500\n`);
    const result = await run("calls", "result", id);
    expect(result.code).toBe(7);
    expect(result.stdout).toBe((await calls.result(id)).body.toString());
    expect(result.stderr).toBe(`The function of call "${id}" replied 500\n`);
    expect((await run("calls", "show", id)).code).toBe(0);
  });

  test("a call that runs has no result, its wait times out, and cancel ends it", async () => {
    const id = await calls.accepted("slow");
    await calls.until(id, ["running"]);
    expect(await run("calls", "show", id)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/run 1 taken +by \S+$/m),
    });
    const early = await run("calls", "result", id);
    expect([early.code, early.stdout]).toEqual([1, ""]);
    expect(early.stderr).toBe(`Cannot read the result of call "${id}": it is running\nTry: weir calls wait ${id}\n`);
    const waited = await run("calls", "wait", id, "--timeout", "1s");
    expect([waited.code, waited.stdout]).toEqual([6, ""]);
    expect(waited.stderr).toBe(
      `Cannot wait any longer for call "${id}": it is running after 1s\nTry: weir calls wait ${id}\n`,
    );

    expect(await run("calls", "cancel", id)).toEqual({ code: 0, stdout: "", stderr: `Call "${id}" is cancelled\n` });
    expect(await calls.ended(id)).toMatchObject({ state: "cancelled" });
    const ended = await run("calls", "wait", id);
    expect([ended.code, ended.stderr]).toEqual([7, `Call "${id}" ended cancelled\n`]);
    expect(await run("calls", "result", id)).toMatchObject({ code: 3, stdout: "" });
  });

  test("a call that has ended cannot be cancelled", async () => {
    const id = await calls.accepted("upper", { body: "hi" });
    await calls.ended(id);
    const { code, stdout, stderr } = await run("calls", "cancel", id);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(new RegExp(`^Cannot cancel call "${id}": .*done`));
  });

  test.each(["show", "wait", "result", "cancel"])("%s of an unknown call is exit code 3", async (verb) => {
    const id = randomUUID();
    const { code, stdout, stderr } = await run("calls", verb, id);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(new RegExp(`^Cannot [a-z ]*call "${id}": `));
  });

  test("list has the newest calls first, with what was asked for; show knows them by six digits", async () => {
    const done = await calls.accepted("upper", { body: "hi" });
    await calls.ended(done);
    const failed = await calls.accepted("gone");
    await calls.ended(failed);
    const list = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await run("calls", "list", ...args, "-o", "json");
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^\d+(?: of \d+)? calls?\n$/)]);
      return Parse(Type.Array(CallSummary), JSON.parse(stdout)).map(({ callId }) => callId);
    };
    await eventually(async () => (await list("--limit", "2")).join() === [failed, done].join(), {
      what: "both calls in the history",
    });
    expect(await list("--function", "gone", "--state", "failed")).toEqual([failed]);
    const shown = await run("calls", "show", failed.replaceAll("-", "").slice(0, 12));
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(shown.stdout).toMatch(new RegExp(`^call +${failed}\n`));
    expect(shown.stdout).toMatch(/^state +failed: exhausted$/m);
  });

  test("without a history list, logs, replay and show by six digits say so", async () => {
    await using directory = await tempDirectory("cli-no-history");
    const bare = await startWeir({
      data: directory.path,
      flags: ["--port=0", "--admin-port=0", "--provider=local", "--history=false"],
    });
    onTestFinished(() => bare.stop());
    const environment = gatewayEnvironment(bare);
    for (const args of [["list"], ["logs", randomUUID()], ["replay", randomUUID()], ["show", "7f3c1d"]]) {
      const { code, stdout, stderr } = await person.run(["calls", ...args], { environment });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^Cannot .*: this gateway has no history(?:; .*)?\n$/);
    }
  });
});

describe("weir queues", () => {
  test("list has a row for each queue, in JSON what the API returns", async () => {
    const { code, stdout, stderr } = await run("queues", "list");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")[0]).toMatch(/^NAME +QUEUED +WAITING +RUNNING +DEAD LETTERS +WORKERS +OLDEST +WHY$/);
    expect(stdout).toMatch(/^default +0 +0 +0 +\d+ +1\b/m);
    expect(jsonOf(Type.Array(QueueStatus), await run("queue", "ls", "-o", "json"))).toMatchObject([
      { name: "default" },
    ]);
  });

  test("show has the limits of a queue, and why calls wait", async () => {
    const { code, stdout } = await run("queues", "show", "default");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^queue +default\nqueued +0 of at most \d+\n/);
    expect(jsonOf(QueueStatus, await run("queues", "show", "default", "-o", "json"))).toMatchObject({
      name: "default",
    });

    const waiting: string[] = [];
    const { maxInflight } = jsonOf(QueueStatus, await run("queues", "show", "default", "-o", "json"));
    for (let n = 0; n <= maxInflight; n++) waiting.push(await calls.accepted("slow"));
    await eventually(
      async () => /^why +All .* slots run calls/m.test((await run("queues", "show", "default")).stdout),
      {
        within: 120_000,
        what: "the queue to say why calls wait",
      },
    );
    for (const id of waiting) await calls.cancel(id);
    for (const id of waiting) await calls.ended(id);
  });

  test("an unknown queue is exit code 3 with a hint", async () => {
    const { code, stdout, stderr } = await run("queues", "show", "reports");
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^Cannot find queue "reports": .*\nTry: weir queues list\n$/);
  });
});

describe("weir dead-letters", () => {
  const letters = async (): Promise<readonly DeadLetterView[]> =>
    jsonOf(Type.Array(DeadLetterView), await run("dead-letters", "list", "-o", "json"));
  /** Waits until these calls, and no others, have dead letters. */
  const untilLetters = (ids: readonly string[]): Promise<unknown> =>
    eventually(
      async () =>
        (await letters())
          .map(({ callId }) => callId)
          .toSorted()
          .join() === ids.toSorted().join(),
      {
        within: 200_000,
        what: `dead letters of ${ids.length} calls`,
      },
    );

  test("are listed, shown, redriven and deleted", async () => {
    expect(await run("dead-letters", "delete", "--all", "--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(await letters()).toEqual([]);

    const broken: string[] = [];
    for (let n = 0; n < 12; n++) broken.push(await calls.accepted("broken", { body: `body ${n}` }));
    const gone: string[] = [];
    for (let n = 0; n < 3; n++) gone.push(await calls.accepted("gone"));
    await untilLetters([...broken, ...gone]);

    const list = await run("dead-letters", "list", "--function", "gone");
    expect([list.code, list.stderr]).toEqual([0, ""]);
    expect(list.stdout.split("\n")[0]).toMatch(/^CALL +QUEUE +FUNCTION +REASON +RUNS +STATUS +AGE$/);
    expect(list.stdout.match(/^\S{36} +default +gone\.functions +exhausted +1 +500 +\d+[smh]$/gm)).toHaveLength(3);
    expect(list.stdout.split("\n")).toHaveLength(5);
    const [first = ""] = broken;
    const shown = await run("dead-letters", "show", first.slice(0, 18));
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(shown.stdout).toMatch(new RegExp(`^call +${first}\n`));
    expect(shown.stdout).toMatch(/^advice +No retry was left, .*fix function "broken"/m);

    // Nothing was corrected: it is given up again.
    expect(await run("dead-letters", "redrive", first)).toEqual({ code: 0, stdout: "redriven 1\n", stderr: "" });
    expect(await calls.ended(first)).toMatchObject({ state: "failed" });
    await untilLetters([...broken, ...gone]);

    await deploy("broken", "cat");
    const deleted = await calls.send("DELETE", "/system/functions", {
      headers: { authorization: weir.authorization },
      body: JSON.stringify({ functionName: "gone" }),
    });
    expect(deleted.status).toBe(202);
    const asked = await run("dead-letters", "redrive", "--all");
    expect(asked).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot ask "Redrive 15 dead letters?": there is no terminal; say --yes\n',
    });
    const redriven = await run("dead-letters", "redrive", "--all", "--queue", "default", "--yes");
    expect(redriven.stdout).toBe("redriven 12, refused 3\n");
    expect(redriven.code).toBe(1);
    expect(redriven.stderr).toMatch(
      /^3 refused: function "gone\.functions" does not exist; deploy it and redrive then \(\S{36}, \S{36}, \S{36}\)\n$/,
    );
    for (const [n, id] of broken.entries()) {
      expect(await calls.ended(id)).toMatchObject({ state: "done" });
      expect((await calls.result(id)).body.toString()).toBe(`body ${n}`);
    }
    await untilLetters(gone);

    const [one = ""] = gone;
    const single = await run("dead-letters", "redrive", one);
    expect(single).toEqual({
      code: 1,
      stdout: "redriven 0, refused 1\n",
      stderr: `Cannot redrive call "${one}": function "gone.functions" does not exist; deploy it and redrive then\n`,
    });
    expect(await run("dead-letters", "rm", one)).toMatchObject({ code: 2, stdout: "" });
    expect(await run("dead-letters", "rm", one, "--yes")).toEqual({ code: 0, stdout: "deleted 1\n", stderr: "" });
    expect(await run("dead-letters", "delete", "--all", "--reason", "crash", "--yes")).toMatchObject({
      stdout: "deleted 0\n",
    });
    expect(await run("dead-letters", "delete", "--all", "--function", "gone", "--yes")).toMatchObject({
      code: 0,
      stdout: "deleted 2\n",
    });
    expect(await letters()).toEqual([]);
  });

  test.each([
    [["list", "--queue", "reports"], 3, /^Cannot find queue "reports": .*\nTry: weir queues list\n$/],
    [["list", "--reason", "sloth"], 2, /^Cannot run "weir dead-letters list": .*--reason.*sloth.*exhausted/],
    [
      ["show", randomUUID()],
      3,
      /^Cannot show call "\S+": there is no dead letter of it\nTry: weir dead-letters list\n$/,
    ],
    [["redrive", randomUUID()], 3, /^Cannot redrive call "\S+": there is no dead letter of it\n/],
    [["redrive"], 2, /^Cannot redrive dead letters: give ids of calls, or --all\n$/],
    [["delete", "--all"], 2, /^Cannot ask "Delete 0 dead letters\?": there is no terminal; say --yes\n$/],
  ])("%j is exit code %i", async (args, exit, sentence) => {
    const { code, stdout, stderr } = await run("dead-letters", ...args);
    expect([code, stdout]).toEqual([exit, ""]);
    expect(stderr).toMatch(sentence);
  });
});
