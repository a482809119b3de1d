import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { runCli } from "../../../../runtime/cli/run-cli.ts";
import { environment } from "../../../../runtime/process/settings.ts";
import { heardTerminal } from "../../../support/heard-terminal.ts";
import { noRoute, openPretendedGateway, problem, type GotRequest } from "../../../support/pretended-gateway.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const newId = id.replace(/.$/, "1");
const request = {
  method: "POST",
  path: "/orders/7",
  query: "dry=true",
  headers: ["Content-Type", "text/plain", "X-Word", "one", "X-Word", "two", "X-Forwarded-Host", "weir.example"],
  body: Buffer.from("hi").toString("base64"),
  redacted: ["authorization", "x-api-key"],
};
const detail = {
  callId: id,
  kind: "async",
  functionName: "hello",
  namespace: "dev",
  state: "done",
  source: "http",
  acceptedAt: "2026-01-31T12:00:00.000Z",
  startTime: "1",
  retries: 0,
  maxRetries: 10,
  attempts: [{ number: 1, startedAt: "2026-01-31T12:00:00.000Z", status: 200, durationSeconds: 0.0123 }],
  replays: [],
  redrives: 0,
  timeline: [],
  actions: { cancel: "no", redrive: "no", replay: true },
  request: { kept: true },
  logs: { kept: false },
  history: { lagSeconds: 0, complete: true, gaps: [] },
};
const record = {
  callId: newId,
  functionName: "hello",
  namespace: "dev",
  queue: "default",
  state: "done",
  acceptedAt: "2026-01-31T12:00:00.000Z",
  startTime: "1",
  retries: 0,
  maxRetries: 10,
  attempts: [],
};
const accepted = { status: 202, headers: { "x-call-id": newId, "x-start-time": "1" } };

/** A gateway that keeps the request of one call. */
function gatewayOf(over: (got: GotRequest) => object | undefined = () => undefined) {
  return openPretendedGateway((got) => {
    const found = over(got);
    if (found !== undefined) return found;
    const [path = ""] = got.target.split("?");
    const replies: Readonly<Record<string, object>> = {
      [`GET /system/calls/${id}`]: { json: detail },
      [`GET /system/calls/${id}/request`]: { json: request },
      [`POST /system/calls/${id}/replay`]: accepted,
      [`GET /async-function/${newId}`]: { json: record },
      [`GET /async-function/${newId}/result`]: { bytes: Buffer.from("out") },
      [`GET /async-function/${id}/result`]: { bytes: Buffer.from("HI"), headers: { "x-function-status": "201" } },
      "GET /system/function/hello": { json: { name: "hello", secrets: ["key", "other"] } },
    };
    return replies[`${got.method} ${path}`] ?? noRoute;
  });
}

describe("weir calls replay", () => {
  test("prints the id of the new call", async () => {
    await using gateway = await gatewayOf();
    expect(await gateway.run(["calls", "replay", id.toUpperCase()])).toEqual({
      code: 0,
      stdout: `${newId}\n`,
      stderr: "",
    });
    expect(gateway.requests).toEqual([{ method: "POST", target: `/system/calls/${id}/replay`, body: "{}" }]);
  });

  test("sends headers, body and callback that were asked for", async () => {
    await using gateway = await gatewayOf();
    const flags = ["-H", "X-Word: a", "-H", "x-word: b", "-H", "Authorization: Bearer t", "--callback"];
    await gateway.run(["calls", "replay", id, ...flags, "-d", "h\u00ef"]);
    await gateway.run(["calls", "replay", id, "-f", "-"], { input: new Uint8Array([0, 255]) });
    await gateway.run(["calls", "replay", id, "-d", ""]);
    expect(gateway.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      {
        callback: true,
        headers: ["x-word", "a", "x-word", "b", "authorization", "Bearer t"],
        body: Buffer.from("h\u00ef").toString("base64"),
      },
      { body: "AP8=" },
      { body: "" },
    ]);
  });

  test("waits for the end of the new call, and prints its result", async () => {
    await using gateway = await gatewayOf();
    expect(await gateway.run(["calls", "replay", id, "--wait", "30s"])).toEqual({
      code: 0,
      stdout: "out",
      stderr: `Call id: ${newId}\n`,
    });
    await using failing = await gatewayOf(({ target }) =>
      target.startsWith(`/async-function/${newId}`) ? { json: { ...record, state: "failed" } } : undefined,
    );
    expect(await failing.run(["calls", "replay", id, "--wait"])).toMatchObject({ code: 7, stdout: "" });
  });

  test("says what the gateway says of a call that cannot be replayed", async () => {
    const sentence = `Cannot replay call "${id}": its request was not kept; set annotation …, or send the call again`;
    await using gateway = await gatewayOf(() => problem(409, "call_not_replayable", sentence));
    expect(await gateway.run(["calls", "replay", id])).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
  });

  test.each([
    [["--local", "--callback"], "Cannot use --local with --callback or --wait: the function is called at once\n"],
    [["--local", "--wait"], "Cannot use --local with --callback or --wait: the function is called at once\n"],
    [["--wait", "soon"], 'Cannot use --wait "soon": it must be a duration, as in --wait=30s\n'],
    [["-H", "nothing"], 'Cannot send header "nothing": it must have the form "Name: value"\n'],
    [["-d", "a", "-f", "b"], "Cannot choose the body: give one of --data and --file\n"],
    [["--edit"], "Cannot edit the body: there is no terminal; give it with --data or --file\n"],
  ])("%j is a mistake on the command line", async (flags, sentence) => {
    await using gateway = await gatewayOf();
    expect(await gateway.run(["calls", "replay", id, ...flags])).toEqual({ code: 2, stdout: "", stderr: sentence });
    expect(gateway.requests.filter(({ method }) => method === "POST")).toEqual([]);
  });
});

describe("weir calls replay --edit", () => {
  /** Runs it on a terminal whose editor is this shell script; `$1` is the file. */
  async function edited(script: string, body: Uint8Array = Buffer.from("hi")) {
    await using directory = await tempDirectory("edit");
    const editor = join(directory.path, "my editor");
    await writeFile(editor, `#!/bin/sh\n${script}\n`);
    await chmod(editor, 0o755);
    await using gateway = await gatewayOf(({ target }) =>
      target.endsWith("/request") ? { json: { ...request, body: Buffer.from(body).toString("base64") } } : undefined,
    );
    const terminal = heardTerminal({
      environment: { PATH: environment()["PATH"] ?? "", EDITOR: `'${editor}'`, VISUAL: " " },
      isTerminal: { stdin: true, stdout: false, stderr: true },
      directory: directory.path,
    });
    const code = await runCli(["calls", "replay", id, "--edit", "--gateway", gateway.address], terminal);
    const sent = gateway.requests.filter(({ method }) => method === "POST").map(({ body: text }) => text);
    return { code, sent, ...terminal.written };
  }
  const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("weir-edit-"));

  test("sends what the editor made of the body, and leaves no file behind", async () => {
    const before = await left();
    const { code, sent, stdout } = await edited('test "$(cat "$1")" = hi && printf more >>"$1"');
    expect([code, stdout]).toEqual([0, `${newId}\n`]);
    expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      { body: Buffer.from("himore").toString("base64") },
    ]);
    expect(await left()).toEqual(before);
  });

  test("sends nothing if the editor fails, or the body is not text", async () => {
    const before = await left();
    const failed = await edited("exit 3");
    expect([failed.code, failed.sent]).toEqual([1, []]);
    expect(failed.stderr).toMatch(/^Cannot edit the body with ".*my editor.*": it ended with 3; nothing was sent\n/);
    const binary = await edited("exit 0", new Uint8Array([255, 0]));
    expect([binary.code, binary.sent]).toEqual([2, []]);
    expect(binary.stderr).toContain("Cannot edit the body: it is not text; give it with --file\n");
    expect(await left()).toEqual(before);
  });
});

describe("weir calls replay --local", () => {
  /** Runs it in a directory with a Weir that replies so. */
  async function compared(reply: object, flags: readonly string[] = []) {
    await using directory = await tempDirectory("local-replay");
    const calls: GotRequest[] = [];
    await using here = await openPretendedGateway((got) => {
      calls.push(got);
      return got.target.startsWith("/system/secrets") ? { json: [{ name: "other", namespace: "dev" }] } : reply;
    });
    await mkdir(join(directory.path, ".weir"), { mode: 0o700 });
    await writeFile(join(directory.path, ".weir", "address"), `${here.address}\n`, { mode: 0o600 });
    await using gateway = await gatewayOf();
    const end = await gateway.run(["calls", "replay", id, "--local", ...flags], {
      directory: directory.path,
      uid: process.getuid?.(),
    });
    return { ...end, calls };
  }
  const ofFunction = { "x-duration-seconds": "0.001" };

  test("calls the function of this directory's Weir, and shows its reply beside the stored one", async () => {
    const { code, stdout, stderr, calls } = await compared({ bytes: Buffer.from("hi\u001b[0m"), headers: ofFunction });
    expect(code).toBe(0);
    expect(stdout.replace(/0\.\d{3}s\n/, "0.000s\n")).toBe(
      [
        "        STORED   HERE",
        "status  201      200",
        "time    0.012s   0.000s",
        "body    2 bytes  6 bytes",
        "",
        "STORED",
        "HI",
        "",
        "HERE",
        "hi\\u001b[0m",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe(
      "The function has secrets that are not here: key\nHeaders that are not kept, and not sent without -H: authorization, x-api-key\n",
    );
    expect(calls.at(-1)).toEqual({ method: "POST", target: "/function/hello.dev/orders/7?dry=true", body: "hi" });
  });

  test("sends what is given in place of it; equal bodies are not shown", async () => {
    const { code, stdout, stderr, calls } = await compared({ bytes: Buffer.from("HI"), headers: ofFunction }, [
      "-H",
      "Authorization: Bearer t",
      "-H",
      "X-Api-Key: k",
      "-d",
      "other",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n\nThe bodies are the same\n$/);
    expect(stderr).toBe("The function has secrets that are not here: key\n");
    expect(calls.at(-1)?.body).toBe("other");
  });

  test("is exit code 7 if the function replies 400 or more, and 3 if it is not there", async () => {
    const failed = await compared({ status: 500, bytes: Buffer.from("oh"), headers: ofFunction });
    expect(failed.code).toBe(7);
    expect(failed.stdout).toContain("HERE\noh\n");
    expect(failed.stderr).toContain('Function "hello" replied 500\n');
    const missing = await compared(problem(404, "function_not_found", "Cannot call function: it does not exist"));
    expect([missing.code, missing.stdout]).toEqual([3, ""]);
  });

  test("says that no Weir of the directory runs", async () => {
    await using gateway = await gatewayOf();
    expect(await gateway.run(["calls", "replay", id, "--local"])).toEqual({
      code: 5,
      stdout: "",
      stderr: `Cannot replay call "${id}" here: no Weir of this directory runs\nTry: weir dev\n`,
    });
  });
});

describe("weir calls request", () => {
  test("prints the body byte for byte, and names what is not kept", async () => {
    const body = Buffer.from([104, 105, 10]);
    await using gateway = await gatewayOf(({ target }) =>
      target.endsWith("/request") ? { json: { ...request, body: body.toString("base64") } } : undefined,
    );
    expect(await gateway.run(["calls", "request", id])).toEqual({
      code: 0,
      stdout: "hi\n",
      stderr: "Headers that are not kept: authorization, x-api-key\n",
    });
    expect((await gateway.run(["calls", "request", id, "-i"])).stdout).toBe(
      "POST /orders/7?dry=true HTTP/1.1\r\nContent-Type: text/plain\r\nX-Word: one\r\nX-Word: two\r\nX-Forwarded-Host: weir.example\r\n\r\nhi\n",
    );
  });

  test("of one that was not kept is exit code 3, and without a history 1", async () => {
    const sentence = `Cannot show the request of call "${id}": it was not kept`;
    await using gateway = await gatewayOf(() => problem(404, "request_not_kept", sentence));
    expect(await gateway.run(["calls", "request", id])).toEqual({ code: 3, stdout: "", stderr: `${sentence}\n` });
    await using without = await openPretendedGateway(() => noRoute);
    expect(await without.run(["calls", "request", id])).toEqual({
      code: 1,
      stdout: "",
      stderr: `Cannot show the request of call "${id}": this gateway has no history\n`,
    });
  });

  test("reads only what is a request", async () => {
    await using gateway = await gatewayOf(() => ({ json: { method: "POST" } }));
    const { code, stderr } = await gateway.run(["calls", "request", id]);
    expect(code).toBe(1);
    expect(stderr).toContain("it is not the request of a call; is it a Weir gateway?");
  });
});
