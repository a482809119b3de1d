import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { livingProcesses } from "../support/process-tree.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const programPath = `${dirname(process.execPath)}:/usr/bin:/bin`;
const main = fileURLToPath(new URL("../../runtime/watchdog/main.ts", import.meta.url));

interface Watchdog {
  readonly child: ChildProcess;
  readonly port: number;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const running: ChildProcess[] = [];
let directory: Awaited<ReturnType<typeof tempDirectory>>;

beforeEach(async () => {
  directory = await tempDirectory("watchdog");
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await directory[Symbol.asyncDispose]();
});

async function start(environment: Record<string, string>, flags: readonly string[] = []): Promise<Watchdog> {
  const launched = launch(environment, flags);
  const port = await Promise.race([
    launched.report.then((message) => ("port" in message ? message.port : undefined)),
    launched.exited.then((code) => Promise.reject(new Error(`the watchdog ended with ${code}: ${launched.output()}`))),
  ]);
  return { ...launched, port: Number(port) };
}

function launch(environment: Record<string, string>, flags: readonly string[] = []) {
  const child = spawn(
    process.execPath,
    [main, "--host", "127.0.0.1", "--port", "0", "--write-timeout", "2s", ...flags],
    {
      cwd: directory.path,
      env: { PATH: programPath },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  running.push(child);
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const report = new Promise<Record<string, unknown>>((resolve) =>
    child.once("message", (message) => resolve(Object(message))),
  );
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  child.send({ environment: { PATH: programPath, HOME: directory.path, ...environment } });
  return { child, output: () => output, report, exited };
}

function open(port: number, path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  const request = sendRequest({
    host: "127.0.0.1",
    port,
    path,
    method: options.method ?? "GET",
    headers: options.headers ?? {},
  });
  const response = once(request, "response").then(([answer]): IncomingMessage => answer);
  response.catch(() => {});
  return { request, response };
}

async function call(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  const { request, response } = open(port, path, options);
  request.end(options.body);
  const answer = await response;
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}

const isAlive = (pid: number): boolean => livingProcesses().some((known) => known.pid === pid);

async function pidIn(file: string): Promise<number> {
  return await eventually(async () => Number(await readFile(join(directory.path, file), "utf8")), {
    within: 5_000,
    what: `a pid in ${file}`,
  });
}

/** A shell line as a process: the words are ours to choose, the watchdog never uses a shell by itself. */
const sh = (line: string): string => `sh -c '${line}'`;
const js = (code: string): string => `"${process.execPath}" -e '${code}'`;
const httpFunction = (code: string): string =>
  js(`require("node:http").createServer((request, response) => { ${code} }).listen(process.env.PORT, "127.0.0.1")`);

async function startHttp(
  code: string,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Watchdog> {
  const watchdog = await start({ fprocess: httpFunction(code), mode: "http", ...environment }, flags);
  await eventually(async () => (await call(watchdog.port, "/_/ready")).status === 200, {
    within: 10_000,
    what: "readiness",
  });
  return watchdog;
}

describe("mode process", () => {
  test("hands the body to the process and its output to the caller", async () => {
    const { port } = await start({ fprocess: "tr a-z A-Z" });
    const answer = await call(port, "/", { method: "POST", body: "some text" });

    expect(answer).toMatchObject({ status: 200, body: "SOME TEXT" });
  });

  test("keeps a megabyte of bytes as they are", async () => {
    const { port } = await start({ fprocess: "cat" });
    const body = Buffer.alloc(1_048_576, Buffer.from([0, 255, 10, 13, 128]));
    const { request, response } = open(port, "/", { method: "POST" });
    request.end(body);

    expect((await buffer(await response)).equals(body)).toBe(true);
  });

  test("sets Http_ variables and the function's own environment, and nothing else", async () => {
    const { port } = await start({ fprocess: "env", mode: "process", max_inflight: "3", greeting: "hello there" });
    const answer = await call(port, "/a%2Fb?x=1&y", {
      method: "POST",
      body: "hi",
      headers: { "X-Call-Id": "42", X_Call_Id: "spoofed", Proxy: "http://evil", "Content-Type": "text/x" },
    });
    const environment = Object.fromEntries(
      answer.body
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );

    expect(environment).toMatchObject({
      Http_Method: "POST",
      Http_Path: "/a%2Fb",
      Http_Query: "x=1&y",
      Http_Content_Length: "2",
      Http_Content_Type: "text/x",
      Http_X_Call_Id: "42",
      fprocess: "env",
      max_inflight: "3",
      greeting: "hello there",
      HOME: directory.path,
    });
    const others = Object.keys(environment).filter((name) => !name.startsWith("Http_"));
    expect(others.sort()).toEqual(["HOME", "PATH", "fprocess", "greeting", "max_inflight", "mode"]);
    expect(environment).not.toHaveProperty("Http_Proxy");
  });

  test("splits words without a shell", async () => {
    const { port } = await start({ fprocess: `printf '%s|' "two words" $HOME ';' a\\ b` });

    expect((await call(port, "/")).body).toBe("two words|$HOME|;|a b|");
  });

  test("sends content_type", async () => {
    const { port } = await start({ fprocess: "echo {}", content_type: "application/json" });

    expect((await call(port, "/")).headers["content-type"]).toBe("application/json");
  });

  test("streams: what is written is sent before the process ends, in both directions", async () => {
    const { port } = await start({ fprocess: "cat" });
    const { request, response } = open(port, "/", { method: "POST" });
    request.write("first");
    const answer = await response;

    expect((await once(answer, "data")).toString()).toBe("first");
    request.write("second");
    expect((await once(answer, "data")).toString()).toBe("second");
    request.end();
    await once(answer, "end");
  });

  test("does not read a body faster than the process, nor output faster than the caller", async () => {
    const { port } = await start({ fprocess: sh("echo $$ >pid; exec yes") });
    const { request, response } = open(port, "/");
    request.end();
    const answer = await response;
    answer.pause();
    const pid = await pidIn("pid");
    const written = async (): Promise<string> =>
      (await readFile(`/proc/${pid}/io`, "utf8").catch(() => "")).split("\n")[1] ?? "";
    let before = "";
    const stands = async (): Promise<boolean> => {
      const last = before;
      before = await written();
      return last !== "" && last === before;
    };
    await eventually(stands, { within: 10_000, what: "the process to be held back", every: 300 });
    request.destroy();
    await eventually(() => !isAlive(pid), { within: 5_000, what: "the process to be gone" });
  });

  test("answers a process that fails before it wrote anything with 500, and logs what it said", async () => {
    const watchdog = await start({ fprocess: sh("echo oh dear >&2; exit 3") });
    const answer = await call(watchdog.port, "/");

    expect(answer.status).toBe(500);
    expect(answer.body).toBe("Cannot complete the call: the process ended with code 3\n");
    await eventually(() => watchdog.output().includes("oh dear\n"), { within: 2_000, what: "the log" });
  });

  test("cuts the connection when a process fails after it wrote something", async () => {
    const { port } = await start({ fprocess: sh("echo half; sleep 0.1; exit 3") });
    const { request, response } = open(port, "/");
    request.end();
    const answer = await response;

    await expect(text(answer)).rejects.toThrow("aborted");
  });

  test("answers when the process did not read the body", async () => {
    const { port } = await start({ fprocess: "echo done" });
    const answer = await call(port, "/", { method: "POST", body: Buffer.alloc(4_000_000) });

    expect(answer).toMatchObject({ status: 200, body: "done\n" });
  });

  test("HEAD has the head only", async () => {
    const { port } = await start({ fprocess: "echo body" });

    expect(await call(port, "/", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  });

  test("exec_timeout kills the whole group: 504 before output, a cut connection after", async () => {
    const { port } = await start({
      fprocess: sh('sleep 60 & echo $! >pid; [ -n "$Http_Query" ] && echo begun; wait'),
      exec_timeout: "300ms",
    });
    const answer = await call(port, "/");
    const pid = await pidIn("pid");

    expect(answer.status).toBe(504);
    expect(answer.body).toBe("Cannot complete the call: the process took longer than exec_timeout of 300ms\n");
    await eventually(() => !isAlive(pid), { within: 5_000, what: "the grandchild to be gone" });

    const { request, response } = open(port, "/?begin");
    request.end();
    await expect(text(await response)).rejects.toThrow("aborted");
  });

  test("a client that leaves ends the process", async () => {
    const { port } = await start({ fprocess: sh("echo $$ >pid; sleep 60") });
    const { request } = open(port, "/");
    request.on("error", () => {});
    request.end();
    const pid = await pidIn("pid");
    request.destroy();

    await eventually(() => !isAlive(pid), { within: 5_000, what: "the process to be gone" });
  });

  test("leaves nothing that a process started in the background", async () => {
    const { port } = await start({ fprocess: sh("sleep 60 & echo $! >pid; echo done") });

    expect((await call(port, "/")).body).toBe("done\n");
    const pid = await pidIn("pid");
    await eventually(() => !isAlive(pid), { within: 5_000, what: "the background process to be gone" });
  });

  test("max_inflight refuses what is above it with 429", async () => {
    const { port } = await start({ fprocess: "cat", max_inflight: "1" });
    const first = open(port, "/", { method: "POST" });
    first.request.write("x");
    await first.response;
    const second = await call(port, "/");

    expect(second.status).toBe(429);
    expect(second.headers["retry-after"]).toBe("1");
    expect((await call(port, "/_/health")).status).toBe(200);
    first.request.end();
    await text(await first.response);
    await eventually(async () => (await call(port, "/")).status === 200, { within: 2_000, what: "a free place" });
  });

  test("health and ready paths are answered without a process", async () => {
    const { port } = await start({ fprocess: "false", health_path: "/alive" });

    expect((await call(port, "/alive")).status).toBe(200);
    expect((await call(port, "/_/ready")).status).toBe(200);
    expect((await call(port, "/_/health")).status).toBe(500);
  });
});

describe("mode http", () => {
  test("finds a port, tells it as PORT, and proxies method, path, headers and body", async () => {
    const { port } = await startHttp(`
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
        response.writeHead(418, { "x-list": ["a", "b"], "content-type": "text/plain" });
        response.end([request.method, request.url, request.headers["x-call-id"], request.headers.te, Buffer.concat(chunks)].join(" "));
      })`);
    const answer = await call(port, "/a%2Fb?q", {
      method: "PUT",
      body: "body",
      headers: { "X-Call-Id": "7", TE: "trailers", Connection: "keep-alive, TE" },
    });

    expect(answer).toMatchObject({ status: 418, body: "PUT /a%2Fb?q 7  body" });
    expect(answer.headers["x-list"]).toBe("a, b");
  });

  test("streams both ways", async () => {
    const { port } = await startHttp("request.pipe(response)");
    const { request, response } = open(port, "/", { method: "POST" });
    request.write("first");
    const answer = await response;

    expect((await once(answer, "data")).toString()).toBe("first");
    request.end("second");
    expect(await text(answer)).toBe("second");
  });

  test("passes a body of a GET and an empty POST", async () => {
    const { port } = await startHttp(`response.write(JSON.stringify(request.headers)); request.pipe(response)`);

    expect((await call(port, "/", { method: "POST" })).body).toContain('"content-length":"0"');
    expect((await call(port, "/", { headers: { "transfer-encoding": "chunked" }, body: "odd" })).body).toMatch(/odd$/);
  });

  test("serves many requests on kept connections whose server closes them", async () => {
    const { port } = await startHttp(`response.end(String(request.socket.server.keepAliveTimeout = 1))`);

    for (let number = 0; number < 200; number += 1) expect((await call(port, "/")).status).toBe(200);
  });

  test("exec_timeout is 504 and frees the connection to the process", async () => {
    const { port } = await startHttp(`request.url === "/slow" ? request.once("close", () => {}) : response.end("ok")`, {
      exec_timeout: "200ms",
    });

    expect((await call(port, "/slow")).status).toBe(504);
    expect((await call(port, "/")).body).toBe("ok");
  });

  test("answers 502 when the process breaks the connection or speaks nonsense", async () => {
    const { port } = await startHttp(
      `request.url === "/reset" ? request.socket.resetAndDestroy() : request.socket.end("nonsense\\r\\n\\r\\n")`,
    );

    expect((await call(port, "/reset")).status).toBe(502);
    expect((await call(port, "/")).status).toBe(502);
  });

  test("runs what may not be done twice once, also on a kept connection that breaks", async () => {
    const { port } = await startHttp(`
      globalThis.posts ??= 0;
      if (request.method === "GET") return response.end(String(globalThis.posts));
      globalThis.posts += 1;
      request.socket.resetAndDestroy()`);

    expect((await call(port, "/")).body).toBe("0");
    expect((await call(port, "/", { method: "POST" })).status).toBe(502);
    expect((await call(port, "/")).body).toBe("1");
  });

  test("answers 502 to a process that switches protocols unasked", async () => {
    const { port } = await startHttp(
      `request.socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: x\\r\\nConnection: Upgrade\\r\\n\\r\\n")`,
    );

    expect((await call(port, "/")).status).toBe(502);
  });

  test("passes the bytes of a header as they are, also when the head goes before the body", async () => {
    const { port } = await startHttp(
      `const socket = request.socket;
      const head = "HTTP/1.1 200 OK\\r\\nX-L: caf\\u00e9\\r\\nContent-Length: 5\\r\\n\\r\\n";
      socket.write(Buffer.from(head, "latin1"));
      setTimeout(() => socket.write("later"), 50)`,
    );
    const { request, response } = open(port, "/");
    request.end();
    const answer = await response;

    expect(answer.headers["x-l"]).toBe("caf\u00e9");
    expect(await text(answer)).toBe("later");
  });

  test("joins connections of another protocol", async () => {
    const { port } = await start({
      mode: "http",
      fprocess:
        js(`require("node:http").createServer((request, response) => response.end()).on("upgrade", (request, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n");
        socket.pipe(socket);
      }).listen(process.env.PORT, "127.0.0.1")`),
    });
    await eventually(async () => (await call(port, "/_/ready")).status === 200, { within: 10_000, what: "readiness" });
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk: Buffer) => (heard += chunk.toString()));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    await eventually(() => heard.includes("101"), { within: 5_000, what: "the switch" });
    socket.write("ping");
    await eventually(() => heard.endsWith("ping"), { within: 5_000, what: "the echo" });
    socket.destroy();
  });

  test("ends with the process, its code and a last line", async () => {
    const watchdog = await start({ mode: "http", fprocess: sh("echo broken >&2; exit 7") });

    expect(await watchdog.exited).toBe(7);
    expect(watchdog.output()).toContain("broken\n");
    expect(watchdog.output()).toContain("watchdog: The process ended with code 7\n");
  });

  test("refuses a port that is taken, with the reason PortInUse", async () => {
    const first = await startHttp("response.end()");
    const { report, exited } = launch({
      mode: "http",
      fprocess: "sleep 60",
      upstream_url: `http://127.0.0.1:${first.port}`,
    });

    expect(await report).toEqual({
      failure: { reason: "PortInUse", message: expect.stringContaining(`port ${first.port} is in use`) },
    });
    expect(await exited).toBe(1);
  });
});

describe("start", () => {
  test.each([
    ["no process", {}, "Cannot run the function: it has no process"],
    ["unknown program", { fprocess: "no-such-program-here" }, '"no-such-program-here" is no program that it can find'],
    ["open quotation", { fprocess: "echo 'a" }, "cannot be split into words"],
    ["wrong settings", { fprocess: "cat", mode: "fast", max_inflight: "-1" }, "mode: expected one of process, http"],
    ["wrong upstream", { fprocess: "cat", mode: "http", upstream_url: "http://x/path" }, "Cannot read upstream_url"],
  ])("%s: one sentence, code 1", async (_, environment, sentence) => {
    const { report, exited, output } = launch(environment);
    expect(await report).toEqual({ failure: { reason: "CannotRun", message: expect.stringContaining(sentence) } });
    expect(await exited).toBe(1);
    expect(output()).toContain(sentence);
    expect(output()).not.toContain("    at ");
  });

  test("without a channel its own environment is the function's, as in a container", async () => {
    const probe = await start({ fprocess: "true" });
    probe.child.kill("SIGTERM");
    await probe.exited;
    const child = spawn(process.execPath, [main], {
      env: { PATH: programPath, fprocess: "env", host: "127.0.0.1", port: String(probe.port), own: "yes" },
      stdio: "ignore",
    });
    running.push(child);
    const answer = await eventually(() => call(probe.port, "/"), { within: 5_000, what: "an answer" });

    expect(answer.body).toContain("own=yes\n");
  });
});

describe("stop", () => {
  test("finishes calls in flight and takes no new ones", async () => {
    const watchdog = await start({ fprocess: "cat" });
    const { request, response } = open(watchdog.port, "/", { method: "POST" });
    request.write("before");
    const answer = await response;
    watchdog.child.kill("SIGTERM");
    await eventually(
      () =>
        call(watchdog.port, "/_/health").then(
          () => false,
          () => true,
        ),
      { within: 5_000, what: "a closed door" },
    );
    request.end(" after");

    expect(await text(answer)).toBe("before after");
    expect(await watchdog.exited).toBe(0);
  });

  test("does not wait longer than its grace, and kills what is left", async () => {
    const watchdog = await start({ fprocess: sh("echo $$ >pid; sleep 60") }, ["--write-timeout", "200ms"]);
    const { request } = open(watchdog.port, "/");
    request.on("error", () => {});
    request.end();
    const pid = await pidIn("pid");
    watchdog.child.kill("SIGTERM");

    expect(await watchdog.exited).toBe(0);
    await eventually(() => !isAlive(pid), { within: 2_000, what: "the process to be gone" });
  });

  test("lets the process of mode http end by itself", async () => {
    const watchdog = await start({
      mode: "http",
      fprocess: sh('echo $$ >pid; trap "echo bye; exit 0" TERM; while :; do sleep 0.05; done'),
    });
    const pid = await pidIn("pid");
    watchdog.child.kill("SIGTERM");

    expect(await watchdog.exited).toBe(0);
    expect(watchdog.output()).toContain("bye\n");
    expect(isAlive(pid)).toBe(false);
  });

  test("ends, with the process, when its parent is gone", async () => {
    const watchdog = await start({ mode: "http", fprocess: sh("echo $$ >pid; sleep 60") });
    const pid = await pidIn("pid");
    watchdog.child.disconnect();

    expect(await watchdog.exited).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });
});
