import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallRecord } from "../../../runtime/api/schemas/call-record.ts";
import { openCallbackSink } from "../../support/callback-sink.ts";
import {
  gatewayEnvironment,
  openCliHome,
  type CliHome,
  type CommandEnd,
  type CommandOptions,
} from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { startCommand } from "../../support/running-command.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** `weir invoke` as a process, against a real Weir. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const callIdLine = /^Call id: [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\n/;

const functions = [
  { service: "hello", image: "hello", envProcess: "cat" },
  { service: "upper", image: "upper", envProcess: "tr a-z A-Z" },
  { service: "environment", image: "environment", envProcess: "env" },
  {
    service: "failing",
    image: "failing",
    envProcess: "sh -c 'cat > /dev/null; exit 3'",
    annotations: { "com.service.retry.attempts": "0" },
  },
  { service: "slow", image: "slow", envProcess: "sh -c 'sleep 1; cat'" },
  { service: "guarded", image: "guarded", envProcess: "cat", annotations: { "com.service.auth": "required" } },
];

/** Runs `weir invoke …` as the administrator. */
const invoke = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(["invoke", ...args], { environment: gatewayEnvironment(weir), ...options });
/** Runs it without credentials. */
const invokeAsNobody = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(["invoke", ...args, "--gateway", weir.url], options);

beforeAll(async () => {
  data = await tempDirectory("cli-invoke");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
  for (const deployment of functions) {
    const reply = await fetch(`${weir.url}/system/functions?wait=60s`, {
      method: "PUT",
      headers: { authorization: weir.authorization },
      body: JSON.stringify(deployment),
    });
    expect(reply.status).toBe(202);
  }
});

afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

describe("a call", () => {
  test("writes the reply to stdout and its id to stderr", async () => {
    const { code, stdout, stderr } = await invoke(["upper", "-d", "hi"]);
    expect(code).toBe(0);
    expect(stdout).toBe("HI");
    expect(stderr).toMatch(callIdLine);
  });

  test("takes its body from standard input, byte for byte, and so writes the reply", async () => {
    const input = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(100_000)]);
    const { code, stdout } = await invoke(["hello"], { input, encoding: "latin1" });
    expect(code).toBe(0);
    expect(Buffer.from(stdout, "latin1").equals(input)).toBe(true);
  });

  test("streams an input that is too long to be read first", async () => {
    const input = randomBytes(3 * 1024 * 1024);
    const { code, stdout } = await invoke(["hello", "-f", "-"], { input, encoding: "latin1" });
    expect(code).toBe(0);
    expect(Buffer.from(stdout, "latin1").equals(input)).toBe(true);
  });

  test("takes its body from a file, and says how long it is", async () => {
    await writeFile(join(person.home, "body.bin"), randomBytes(2_000_000));
    const { code, stdout } = await invoke(["environment", "--file", "body.bin"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Http_Content_Length=2000000$/m);
  });

  test("takes no body from standard input for a GET", async () => {
    const { stdout } = await invoke(["hello", "-X", "GET"], { input: "not this" });
    expect(stdout).toBe("");
  });

  test("sends method, path, query and headers as they were given", async () => {
    const given = "-X PUT -H X-One:1 --query d -H Accept:text/csv environment/a/../b%2e?q=1".split(" ");
    const { code, stdout } = await invoke(["--query", "a=b c", ...given, "-d", ""]);
    expect(code).toBe(0);
    for (const line of [
      "Http_Method=PUT",
      "Http_Path=/a/../b%2e",
      "Http_Query=q=1&a=b%20c&d",
      "Http_X_One=1",
      "Http_Accept=text/csv",
    ])
      expect(stdout.split("\n")).toContain(line);
  });

  test("with -i has status and headers before the body", async () => {
    const { stdout, stderr } = await invoke(["hello", "-i", "-d", "hi"]);
    const [head = "", body] = stdout.split("\r\n\r\n");
    expect(body).toBe("hi");
    expect(head.split("\r\n")[0]).toBe("HTTP/1.1 200 OK");
    const id = /^x-call-id: (.*)$/m.exec(head)?.[1];
    expect(stderr).toBe(`Call id: ${id}\n`);
  });

  test("with -q writes nothing but the reply", async () => {
    expect(await invoke(["hello", "-q", "-d", "hi"])).toEqual({ code: 0, stdout: "hi", stderr: "" });
  });

  test("carries the id that is given", async () => {
    const id = randomUUID();
    const { stderr } = await invoke(["hello", "--id", id.toUpperCase(), "-d", ""]);
    expect(stderr).toBe(`Call id: ${id}\n`);
  });

  test("finds a function in a namespace, by its name or by -n", async () => {
    for (const args of [["hello.functions"], ["hello", "-n", "functions"], ["hello.functions", "-n", "functions"]])
      expect(await invoke([...args, "-q", "-d", "hi"])).toEqual({ code: 0, stdout: "hi", stderr: "" });
  });

  test("that the function fails is exit code 7, with its reply", async () => {
    const { code, stdout, stderr } = await invoke(["failing", "-d", "hi"]);
    expect(code).toBe(7);
    expect(stdout).not.toBe("");
    expect(stderr.replace(callIdLine, "")).toBe('Function "failing" replied 500\n');
  });

  test("of an unknown function is exit code 3, the gateway's sentence and a hint, and no reply", async () => {
    const { code, stdout, stderr } = await invoke(["hallo", "-d", "hi"]);
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr.replace(callIdLine, "")).toMatch(/^Cannot call function "hallo": .*\nTry: weir list\n$/);
  });
});

describe("credentials", () => {
  test("are sent when the gateway asks for them, with the body once more", async () => {
    const input = randomBytes(2 * 1024 * 1024);
    await writeFile(join(person.home, "guarded.bin"), input);
    expect(await invoke(["guarded", "-q", "-d", "hi"])).toEqual({ code: 0, stdout: "hi", stderr: "" });
    for (const file of ["-", "guarded.bin"]) {
      const { code, stdout } = await invoke(["guarded", "-f", file], { input, encoding: "latin1" });
      expect(code).toBe(0);
      expect(Buffer.from(stdout, "latin1").equals(input)).toBe(true);
    }
  });

  test("are not needed for other functions", async () => {
    expect(await invokeAsNobody(["hello", "-q", "-d", "hi"])).toEqual({ code: 0, stdout: "hi", stderr: "" });
  });

  test("that are missing are exit code 4 and a hint", async () => {
    for (const more of [[], ["--async"]]) {
      const { code, stdout, stderr } = await invokeAsNobody(["guarded", "-d", "hi", ...more]);
      expect(code).toBe(4);
      expect(stdout).toBe("");
      expect(stderr.replace(callIdLine, "")).toMatch(new RegExp(`^Cannot .*\\nTry: weir login ${weir.url}\\n$`));
    }
  });

  test("for the function itself go with --header, and no others", async () => {
    const args = ["environment", "-d", "", "-H", "Authorization: Bearer of-the-function"];
    const { stdout } = await invoke(args);
    expect(stdout).toMatch(/^Http_Authorization=Bearer of-the-function$/m);
    expect((await invoke(["environment", "-d", ""])).stdout).not.toMatch(/Authorization/i);
  });

  test("can come from standard input, which is then not the body", async () => {
    const { code, stdout } = await invokeAsNobody(["guarded", "--password-stdin", "-d", "hi"], {
      input: `${weir.password}\n`,
    });
    expect([code, stdout]).toEqual([0, "hi"]);
    expect(await invokeAsNobody(["hello", "-q", "--password-stdin"], { input: "a" })).toMatchObject({ stdout: "" });
  });
});

describe("a queued call", () => {
  const recordOf = async (id: string): Promise<CallRecord> => {
    const reply = await fetch(`${weir.url}/async-function/${id}?wait=60s`);
    return (await reply.json()) as CallRecord;
  };

  test("prints its id, and nothing else", async () => {
    const { code, stdout, stderr } = await invoke(["upper", "--async", "-d", "hi"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.trimEnd()).toMatch(uuid);
    expect(await recordOf(stdout.trimEnd())).toMatchObject({ functionName: "upper", state: "done" });
  });

  test("is waited for, and prints its result", async () => {
    const { code, stdout, stderr } = await invoke(["upper", "--async", "--wait", "-f", "-"], { input: "hi" });
    expect([code, stdout]).toEqual([0, "HI"]);
    expect(stderr).toMatch(callIdLine);
  });

  test("that failed is exit code 7, with what the function replied", async () => {
    const { code, stdout, stderr } = await invoke(["failing", "--async", "--wait=5m", "-d", "hi"]);
    expect(code).toBe(7);
    expect(stdout).not.toBe("");
    expect(stderr.replace(callIdLine, "")).toMatch(/^Call ".*" ended failed: exhausted, status 500\n$/);
  });

  test("that has not ended in time is exit code 6, and goes on", async () => {
    const { code, stdout, stderr } = await invoke(["slow", "--async", "--wait=1ms", "-d", "hi"]);
    expect([code, stdout]).toEqual([6, ""]);
    const id = callIdLine.exec(stderr)?.[0].slice(9, -1) ?? "";
    expect(stderr).toMatch(/^Cannot wait any longer for call ".*": it is (?:queued|running) after 1ms$/m);
    expect(stderr).toContain(`Try: weir calls wait ${id}\n`);
    expect(await recordOf(id)).toMatchObject({ state: "done" });
  });

  test("is sent again under its id when the broker does not answer, and runs once", async () => {
    const broker = weir.below().find(({ command }) => command.includes("nats"));
    if (broker === undefined) throw new Error("Cannot find the broker of this Weir");
    process.kill(broker.pid, "SIGSTOP");
    try {
      await using command = startCommand(
        person,
        ["invoke", "upper", "--async", "-d", "hi", "--timeout", "5m"],
        gatewayEnvironment(weir),
      );
      const note = "The gateway does not know whether the call is queued; sending it again, for 5m at most\n";
      await eventually(() => command.stderr().includes(note), { what: "a reply that does not know" });
      process.kill(broker.pid, "SIGCONT");
      const stdout = (await text(command.stdout)).trimEnd();
      expect(await command.end).toBe(0);
      expect(command.stderr()).toBe(note);
      expect(await recordOf(stdout)).toMatchObject({ state: "done", attempts: [{ number: 1, status: 200 }] });
    } finally {
      process.kill(broker.pid, "SIGCONT");
    }
  });

  test("runs once under one id, however often it is sent", async () => {
    const id = randomUUID();
    const args = ["upper", "--async", "--id", id, "-d", "once"];
    expect(await invoke(args)).toEqual({ code: 0, stdout: `${id}\n`, stderr: "" });
    expect(await recordOf(id)).toMatchObject({ state: "done" });
    expect(await invoke(args)).toEqual({ code: 0, stdout: `${id}\n`, stderr: "" });
    expect((await recordOf(id)).attempts).toHaveLength(1);
  });

  test("calls back", async () => {
    await using sink = await openCallbackSink();
    const { code, stdout } = await invoke(["upper", "--async", "--callback", sink.url, "-d", "hi"]);
    expect(code).toBe(0);
    const { body } = await sink.waitFor(stdout.trimEnd());
    expect(body.toString()).toBe("HI");
  });

  test("of an unknown function, or with an address that is none, is refused", async () => {
    const unknown = await invoke(["hallo", "--async", "-d", "hi"]);
    expect([unknown.code, unknown.stdout]).toEqual([3, ""]);
    expect(unknown.stderr).toMatch(/^Cannot call function "hallo": .*\nTry: weir list\n$/);
    const callback = await invoke(["hello", "--async", "--callback", "ftp://x", "-d", "hi"]);
    expect([callback.code, callback.stdout]).toEqual([1, ""]);
    expect(callback.stderr).toMatch(/^Cannot .*\n$/);
  });

  test("with a body that is too long is refused with the limit", async () => {
    const { code, stdout, stderr } = await invoke(["hello", "--async"], { input: Buffer.alloc(1024 * 1024 + 1, "x") });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Cannot .*1048576.*\n$/);
  });
});

describe("a command line that cannot be meant", () => {
  test.each([
    [["Hello"], 'Cannot use function name "Hello": only a to z'],
    [["hello.a.b/c"], 'Cannot use function name "hello.a": only a to z'],
    [["hello.dev", "-n", "prod"], 'Cannot choose the namespace of "hello": its name says "dev", --namespace "prod"'],
    [["hello", "-d", "a", "-f", "b"], "Cannot choose the body: give one of --data and --file"],
    [["hello", "-f", "nothing.json"], 'nothing.json" of --file: ENOENT'],
    [["hello", "-f", "/"], 'Cannot read "/" of --file: it is a directory'],
    // Of the rules of each option (`invocation.test.ts`) and of any command line (`run-cli.test.ts`) one each.
    [["hello", "--wait"], "Cannot use --wait: only calls with --async have one"],
    [[], "missing required argument 'name[/path]'"],
  ])("%j is exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await invoke(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
  });
});
