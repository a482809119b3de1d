import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { Agent, type ClientRequest, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openRawClient } from "../support/raw-client.ts";
import {
  endWatchdogsAfterEachTest,
  call,
  isAlive,
  js,
  launch,
  main,
  open,
  pidIn,
  programPath,
  running,
  sh,
  start,
  testDirectory,
} from "../support/watchdog-process.ts";

/** An `exec_timeout` longer than a shell takes to begin on a full machine. */
const enoughToBegin = "3s";

endWatchdogsAfterEachTest();

describe("mode process", () => {
  test("hands the body to the process and its output to the caller", async () => {
    const { port } = await start({ fprocess: "tr a-z A-Z" });
    const reply = await call(port, "/", { method: "POST", body: "some text" });

    expect(reply).toMatchObject({ status: 200, body: "SOME TEXT" });
  });

  test("keeps a megabyte of bytes unchanged", async () => {
    const { port } = await start({ fprocess: "cat" });
    const body = Buffer.alloc(1_048_576, Buffer.from([0, 255, 10, 13, 128]));
    const { request, response } = open(port, "/", { method: "POST" });
    request.end(body);

    expect((await buffer(await response)).equals(body)).toBe(true);
  });

  test("sets Http_ variables and the function's own environment, and nothing else", async () => {
    const { port } = await start({ fprocess: "env", mode: "process", max_inflight: "3", greeting: "hello there" });
    const reply = await call(port, "/a%2Fb?x=1&y", {
      method: "POST",
      body: "hi",
      headers: { "X-Call-Id": "42", X_Call_Id: "spoofed", Proxy: "http://evil", "Content-Type": "text/x" },
    });
    const environment = Object.fromEntries(
      reply.body
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
      HOME: testDirectory(),
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
    const reply = await response;

    expect((await once(reply, "data")).toString()).toBe("first");
    request.write("second");
    expect((await once(reply, "data")).toString()).toBe("second");
    request.end();
    await once(reply, "end");
  });

  test("does not read a body faster than the process, nor output faster than the caller", async () => {
    const { port } = await start({ fprocess: sh("echo $$ >pid; exec yes") });
    const { request, response } = open(port, "/");
    request.end();
    const reply = await response;
    reply.pause();
    const pid = await pidIn("pid");
    const written = async (): Promise<string> =>
      (await readFile(`/proc/${pid}/io`, "utf8").catch(() => "")).split("\n")[1] ?? "";
    let before = "";
    const isPaused = async (): Promise<boolean> => {
      const last = before;
      before = await written();
      return last !== "" && last === before;
    };
    await eventually(isPaused, { what: "the process to be paused", every: 300 });
    request.destroy();
    await eventually(() => !isAlive(pid), { what: "the process to be gone" });
  });

  test("a process that fails before it writes anything is 500, and its output is logged", async () => {
    const watchdog = await start({ fprocess: sh("echo oh dear >&2; exit 3") });
    const reply = await call(watchdog.port, "/");

    expect(reply.status).toBe(500);
    expect(reply.body).toBe("Cannot complete the call: the process ended with code 3\n");
    await eventually(() => watchdog.output().includes("oh dear\n"), { what: "the log" });
  });

  test("aborts the connection when a process fails after it wrote something", async () => {
    const { port } = await start({ fprocess: sh("echo half; until [ -e heard ]; do sleep 0.02; done; exit 3") });
    const { request, response } = open(port, "/");
    request.end();
    const reply = await response;
    await writeFile(join(testDirectory(), "heard"), "");

    await expect(text(reply)).rejects.toThrow("aborted");
  });

  test("is 500 instead while nothing of the reply was sent", async () => {
    const { port } = await start({ fprocess: sh("echo half; exit 3") });
    // What is written first is held for some milliseconds; a busy machine may take longer between the two.
    const replies = await Promise.allSettled(Array.from({ length: 20 }, () => call(port, "/")));
    const whole = replies.flatMap((reply) => (reply.status === "fulfilled" ? [reply.value] : []));
    expect(whole.length).toBeGreaterThan(0);
    for (const reply of whole)
      expect(reply).toMatchObject({
        status: 500,
        body: "Cannot complete the call: the process ended with code 3\n",
      });
  });

  test("an aborted reply has no end, and the log says that it was cut", async () => {
    const watchdog = await start({ fprocess: sh("echo half; until [ -e heard ]; do sleep 0.02; done; exit 3") });
    const client = await openRawClient(watchdog.port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(() => client.text.includes("half"), { what: "the beginning of the reply" });
    await writeFile(join(testDirectory(), "heard"), "");
    await client.end();
    const received = client.text;

    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toContain("half\n");
    expect(received).not.toContain("0\r\n\r\n");
    await eventually(() => watchdog.output().includes("code 3 after it wrote a part of the response, which is cut"), {
      what: "the log",
    });
  });

  test("the last output of a process, without a newline, is a separate line in the log", async () => {
    const failing = await start({ fprocess: sh("printf oops >&2; exit 3") });
    expect((await call(failing.port, "/")).status).toBe(500);
    await eventually(() => failing.output().includes("code 3\n"), { what: "the log" });
    expect(failing.output()).toBe("oops\nwatchdog: process ended with code 3\n");

    const quiet = await start({ fprocess: sh("printf done >&2") });
    for (const path of ["/", "/"]) expect((await call(quiet.port, path)).status).toBe(200);
    await eventually(() => quiet.output() === "done\ndone\n", { what: "both lines" });
  });

  test("a watchdog that stops has logged all output of its processes", async () => {
    const { port, child, exited, output } = await start({
      fprocess: sh("echo answered; seq 20000 >&2; printf end >&2"),
    });
    const reply = call(port, "/");
    await eventually(() => output().length > 0, { what: "the first words" });
    child.kill("SIGTERM");
    expect((await reply).status).toBe(200);
    await exited;
    await eventually(() => output().endsWith("20000\nend\n"), { what: "the last words" });
  });

  /** What servers do once they listen: they say so, or nothing. */
  const greetings = [`console.log("Listening on", server.address().port)`, ""];
  const serverThat = (greeting: string) =>
    js(`const server = require("node:http").createServer(() => {}).listen(0, "127.0.0.1", () => { ${greeting} })`);

  test("a server that reads no input is reported as one, in the reply and in the log, whether it greets or is silent", async () => {
    const report = async (greeting: string): Promise<void> => {
      const watchdog = await start({ fprocess: serverThat(greeting) });
      // More than the system buffers for a process that does not read.
      const reply = await call(watchdog.port, "/", { method: "POST", body: Buffer.alloc(4_194_304) });
      expect(reply.status).toBe(502);
      expect(reply.body).toMatch(
        /^Cannot complete the call: the process listens on a port instead of reading its input: set mode to http\n$/,
      );
      await eventually(() => watchdog.output().includes("instead of reading its input: set mode to http\n"), {
        what: "the log",
      });
    };
    await Promise.all(greetings.map(report));
  });

  const hint = /watchdog: the process listens on port (\d+) and waits: if it is a server, set mode to http\n/;

  test("a server that may have read its input is reported in the log, and no reply begins, whether it greets or is silent", async () => {
    const report = async (greeting: string): Promise<void> => {
      const watchdog = await start({ fprocess: serverThat(greeting) });
      const client = await openRawClient(watchdog.port);
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
      await eventually(() => hint.test(watchdog.output()), { what: "the log" });
      expect(client.text).toBe("");
      client.close();
    };
    await Promise.all(greetings.map(report));
  });

  test("one that reads nothing or a text to its end, listens and replies later is left alone", async () => {
    const leave = async (body: string): Promise<void> => {
      const late = `
      let input = "";
      process.stdin.on("data", (chunk) => { input += chunk; }).on("end", () => {
        const server = require("node:net").createServer(() => {
          console.log("heard after", input);
          process.exit();
        }).listen(0, "127.0.0.1");
      })`;
      const watchdog = await start({ fprocess: js(late) });
      const reply = call(watchdog.port, "/", { method: "POST", body });
      const [, port] = await eventually(() => hint.exec(watchdog.output()) ?? undefined, { what: "the log" });
      const caller = connect(Number(port), "127.0.0.1");
      // The process ends when it is connected to.
      caller.on("error", () => {});

      expect(await reply).toMatchObject({ status: 200, body: `heard after ${body}\n` });
      caller.destroy();
    };
    await Promise.all(["", "some text"].map(leave));
  });

  test("a process that listens for a while and works is no server", async () => {
    const work = `
      const server = require("node:http").createServer(() => {}).listen(0, "127.0.0.1", () => {
        console.log("begun");
        const until = Date.now() + 2500;
        const step = () => {
          for (const end = Date.now() + 50; Date.now() < end;);
          if (Date.now() < until) setTimeout(step, 10);
          else { console.log("done"); process.exit(); }
        };
        step();
      })`;
    const { port } = await start({ fprocess: js(work) });

    expect(await call(port, "/")).toMatchObject({ status: 200, body: "begun\ndone\n" });
  });

  test("replies when the process did not read the body", async () => {
    const { port } = await start({ fprocess: "echo done" });
    const reply = await call(port, "/", { method: "POST", body: Buffer.alloc(4_000_000) });

    expect(reply).toMatchObject({ status: 200, body: "done\n" });
  });

  test("HEAD has the head only", async () => {
    const { port } = await start({ fprocess: "echo body" });

    expect(await call(port, "/", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  });

  test("exec_timeout kills the whole group, and the reply before output is 504", async () => {
    const { port } = await start({ fprocess: sh("sleep 60 & echo $! >pid; wait"), exec_timeout: enoughToBegin });
    const reply = await call(port, "/");
    const pid = await pidIn("pid");

    expect(reply.status).toBe(504);
    expect(reply.body).toBe("Cannot complete the call: the process took longer than exec_timeout of 3s\n");
    await eventually(() => !isAlive(pid), { what: "the grandchild to be gone" });
  });

  test("exec_timeout aborts the connection after output", async () => {
    const { port } = await start({ fprocess: sh("echo begun; sleep 60"), exec_timeout: enoughToBegin });
    const { request, response } = open(port, "/");
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

    await eventually(() => !isAlive(pid), { what: "the process to be gone" });
  });

  test("leaves nothing that a process started in the background", async () => {
    const { port } = await start({ fprocess: sh("sleep 60 & echo $! >pid; echo done") });

    expect((await call(port, "/")).body).toBe("done\n");
    const pid = await pidIn("pid");
    await eventually(() => !isAlive(pid), { what: "the background process to be gone" });
  });

  test("waits for no process that left its group and holds the output open", async () => {
    const { port } = await start({
      fprocess: sh('setsid sh -c "echo \\$\\$ >pid; exec sleep 60" & until [ -s pid ]; do sleep 0.01; done; echo done'),
    });

    expect((await call(port, "/")).body).toBe("done\n");
    process.kill(await pidIn("pid"), "SIGKILL");
  });

  test("max_inflight refuses calls above it with 429", async () => {
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
    await eventually(async () => (await call(port, "/")).status === 200, { what: "a free place" });
  });

  test("health and ready paths are served without a process", async () => {
    const { port } = await start({ fprocess: "false", health_path: "/alive" });

    expect((await call(port, "/alive")).status).toBe(200);
    expect((await call(port, "/_/ready")).status).toBe(200);
    expect((await call(port, "/_/health")).status).toBe(500);
  });
});

describe("start", () => {
  test.each([
    ["no process", {}, "Cannot run the function: it has no process"],
    [
      "unknown program",
      { fprocess: "no-such-program-here" },
      '"no-such-program-here" is not a program that it can find',
    ],
    ["open quotation", { fprocess: "echo 'a" }, "cannot be split into words"],
    ["wrong settings", { fprocess: "cat", mode: "fast", max_inflight: "-1" }, "mode: expected one of process, "],
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
    const reply = await eventually(() => call(probe.port, "/"), { what: "a reply" });

    expect(reply.body).toContain("own=yes\n");
  });
});

const isClosed = (port: number): Promise<boolean> =>
  call(port, "/_/health").then(
    () => false,
    () => true,
  );

/** Asks seldom: more often, it would be taken for a caller that does not know of the stop yet. */
const closes = (port: number): Promise<true> => eventually(() => isClosed(port), { what: "a closed port", every: 500 });

describe("stop", () => {
  test("finishes calls in flight and takes no new ones", async () => {
    const watchdog = await start({ fprocess: "cat" });
    const { request, response } = open(watchdog.port, "/", { method: "POST" });
    request.write("before");
    const reply = await response;
    watchdog.child.kill("SIGTERM");
    await closes(watchdog.port);
    request.end(" after");

    expect(await text(reply)).toBe("before after");
    expect(await watchdog.exited).toBe(0);
  });

  test("callers that do not know of it yet are served, also those that only the kernel has accepted", async () => {
    const watchdog = await start({ fprocess: "cat" }, ["--write-timeout", "20s"]);
    watchdog.child.kill("SIGSTOP");
    const requests = Array.from({ length: 20 }, async (_, index) => {
      const { request, response } = open(watchdog.port, "/", { method: "POST" });
      request.end(String(index));
      await once(request, "finish");
      return { reply: response.then(text) };
    });
    const early = await Promise.all(requests);
    watchdog.child.kill("SIGTERM");
    watchdog.child.kill("SIGCONT");

    for (const [index, { reply }] of early.entries()) expect(await reply).toBe(String(index));
    expect(await watchdog.exited).toBe(0);
  });

  test("callers that never know of it do not keep it longer than its grace", async () => {
    const watchdog = await start({ fprocess: "cat" }, ["--write-timeout", "1s"]);
    watchdog.child.kill("SIGTERM");
    await eventually(() => isClosed(watchdog.port), { what: "a closed port" });

    expect(await watchdog.exited).toBe(0);
  });

  test("one that stalled replies to what arrived over a connection meanwhile before it ends", async () => {
    const watchdog = await start({ fprocess: "cat" }, ["--write-timeout", "20s"]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (body: string): ClientRequest => {
      const sent = sendRequest({ agent, host: "127.0.0.1", port: watchdog.port, method: "POST", path: "/" });
      sent.end(body);
      return sent;
    };
    const replyOf = async (sent: ClientRequest): Promise<string> => {
      const [reply] = await once(sent, "response");
      return text(reply);
    };
    expect(await replyOf(send("first"))).toBe("first");
    watchdog.child.kill("SIGTERM");
    await closes(watchdog.port);
    watchdog.child.kill("SIGSTOP");
    // Longer than it waits for callers that do not know of it.
    await pause(2_500);
    const second = send("second");
    const reply = replyOf(second);
    // Only what the kernel has accepted is on its way: a request object alone is not.
    await once(second, "finish");
    watchdog.child.kill("SIGCONT");

    expect(await reply).toBe("second");
    expect(await watchdog.exited).toBe(0);
    agent.destroy();
  });

  test("does not wait longer than its grace, and kills what is left", async () => {
    const watchdog = await start({ fprocess: sh("echo $$ >pid; sleep 60") }, ["--write-timeout", "200ms"]);
    const { request } = open(watchdog.port, "/");
    request.on("error", () => {});
    request.end();
    const pid = await pidIn("pid");
    watchdog.child.kill("SIGTERM");

    expect(await watchdog.exited).toBe(0);
    await eventually(() => !isAlive(pid), { what: "the process to be gone" });
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
