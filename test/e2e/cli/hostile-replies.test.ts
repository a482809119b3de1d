import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerResponse } from "node:http";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { startCommand } from "../../support/running-command.ts";
import { openScriptedGateway, replyWith } from "../../support/scripted-gateway.ts";

/** What a gateway or function sends that nobody expects: the command stays small, its output harmless. */
let person: CliHome;
const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const ofFunction = { "x-duration-seconds": "0.001000", "x-call-id": id };
/** Characters that move the cursor, forge lines, or turn text around. */
const hostile = "a\u001b[2J\u001b]0;t\u0007\rb\u202egpj\u2066\u009b31m\u200f\u007f";
const shown = String.raw`a\u001b[2J\u001b]0;t\u0007\u000db\u202egpj\u2066\u009b31m\u200f\u007f`;
const unsafe = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const run = (url: string, args: readonly string[], input = ""): Promise<CommandEnd> =>
  person.run([...args, "--gateway", url], { input });

beforeAll(async () => {
  person = await openCliHome();
});

afterAll(async () => {
  await person?.[Symbol.asyncDispose]();
});

describe("text of a gateway or function on a terminal", () => {
  test.each([
    ["problem details", { code: "function_not_found", detail: `Cannot find ${hostile}` }, "application/problem+json"],
    ["a line of text", `Cannot find ${hostile}`, "text/plain"],
  ])("is shown by the codes of its characters in %s", async (_, body, type) => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 404, body, { "content-type": type }),
    );
    for (const args of [
      ["describe", "hello"],
      ["invoke", "hello", "-d", "x"],
      ["logs", "hello"],
    ]) {
      const { code, stdout, stderr } = await run(gateway.url, args);
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr.split("\n")[0]).toBe(`Cannot find ${shown}`);
      expect(stderr).not.toMatch(unsafe);
    }
  });

  test("is shown so in each field of a function", async () => {
    const condition = { type: hostile, status: hostile, reason: hostile, message: `${hostile}\nforged` };
    const labels = { [hostile]: hostile };
    const status = {
      name: hostile,
      namespace: "n",
      image: hostile,
      createdAt: hostile,
      conditions: [condition],
      labels,
    };
    await using gateway = await openScriptedGateway((response, { target }) =>
      replyWith(response, 200, target.startsWith("/system/functions") ? [status] : status),
    );
    for (const args of [["describe", "hello"], ["list"], ["list", "-o", "json"]]) {
      const { code, stdout, stderr } = await run(gateway.url, args);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).not.toMatch(unsafe);
      expect(stdout).toContain(shown.slice(0, 14));
      expect(stdout).not.toMatch(/^forged/m);
    }
  });

  test("is shown so in a line of a log, which stays one line", async () => {
    const record = { name: "hello", namespace: "n", instance: hostile, timestamp: "2026-01-31T12:00:00Z" };
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 200, `${JSON.stringify({ ...record, text: `${hostile}\nforged\n` })}\n`),
    );
    const { code, stdout, stderr } = await run(gateway.url, ["logs", "hello"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.endsWith(String.raw`${shown}\nforged` + "\n")).toBe(true);
    expect(stdout).not.toMatch(unsafe);
    const json = await run(gateway.url, ["logs", "hello", "-o", "json"]);
    expect(json.stdout).not.toMatch(unsafe);
    expect(JSON.parse(json.stdout)).toEqual({ ...record, text: `${hostile}\nforged\n` });
  });

  test("is shown so in the head of a reply and in its id, but not in its body", async () => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 200, hostile, { ...ofFunction, "x-call-id": "\u009b2J", "x-other": "\u0085\u009b" }),
    );
    const { code, stdout, stderr } = await run(gateway.url, ["invoke", "hello", "-i", "-d", "x"]);
    expect(code).toBe(0);
    expect(stderr).toBe(String.raw`Call id: \u009b2J` + "\n");
    const [head = "", body] = stdout.split("\r\n\r\n");
    expect(body).toBe(hostile);
    expect(head.replaceAll("\r\n", "")).not.toMatch(unsafe);
    expect(head).toContain(String.raw`x-other: \u0085\u009b`);
  });
});

describe("a reply that cannot be read", () => {
  test.each([
    [["describe", "hello"], "{", /^Cannot read the reply of http:.*: it is application\/json, not JSON/],
    [["list"], "<html>", /^Cannot read the reply of http:.*not JSON; is it a Weir gateway\?\n$/],
    [["logs", "hello"], "\n<html>\n", /^Cannot read the stream: a line of it is not JSON\n$/],
    [["logs", "hello"], "{}\n", /^Cannot read the log of function "hello": a line of it is no log record\n$/],
    [
      ["describe", "hello"],
      "null",
      /^Cannot read the reply of http\S+: it is not a function; is it a Weir gateway\?\n$/,
    ],
    [["describe", "hello"], '{"name":"hello"}', /^Cannot read the reply of .*: it is not a function; /],
    [["scale", "hello", "1"], "[]", /^Cannot read the reply of .*: it is not a function; /],
    [["list"], "{}", /^Cannot read the reply of .*: it is not a list of functions; /],
    [["list"], "[null]", /^Cannot read the reply of .*: it is not a list of functions; /],
    [["list", "-A"], "{}", /^Cannot read the reply of .*: it is not a list of namespaces; /],
  ])("%j with %j is exit code 1", async (args, body, sentence) => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 200, body, { "content-type": "application/json" }),
    );
    const { code, stderr } = await run(gateway.url, args);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
  });

  test("an error without an end is not collected", async () => {
    const page = "<p>no</p>".repeat(200_000);
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 502, page, { "content-type": "text/html" }),
    );
    for (const args of [
      ["describe", "hello"],
      ["invoke", "hello", "-d", "x"],
      ["invoke", "hello", "--async", "-d", "x"],
    ]) {
      const { code, stdout, stderr } = await run(gateway.url, args);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^Cannot [A-Z]+ \/\S+ at http:\S+: it replied 502 Bad Gateway\n$/);
    }
  });

  test("a reset in its middle is exit code 5, with what came before it", async () => {
    await using gateway = await openScriptedGateway((response) => {
      response.writeHead(200, { ...ofFunction, "content-length": "100" });
      response.write("half", () => void response.socket?.resetAndDestroy());
    });
    const { code, stdout, stderr } = await run(gateway.url, ["invoke", "hello", "-q", "-d", "x"]);
    expect([code, stdout]).toEqual([5, "half"]);
    expect(stderr).toBe('Cannot read the reply of function "hello": the connection was closed before its end\n');
  });

  test("a gateway that never replies is exit code 6", async () => {
    const sockets = new Set<Socket>();
    const hole = createServer((socket) => void sockets.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => void hole.listen(0, "127.0.0.1", resolve));
    const { port } = hole.address() as AddressInfo;
    try {
      const commands = [
        ["list"],
        ["describe", "hello"],
        ["scale", "hello", "1"],
        ["delete", "hello", "--yes"],
        ["logs", "hello", "-f"],
        ["invoke", "hello", "-d", "x"],
        ["invoke", "hello", "--async", "-d", "x"],
      ];
      const ends = commands.map(async (args) => {
        const { code, stdout, stderr } = await run(`http://127.0.0.1:${port}`, [...args, "--timeout", "1s"]);
        expect([args, code, stdout]).toEqual([args, 6, ""]);
        expect(stderr).toMatch(/^Cannot reach Weir at \S+: no reply within 1s; the request may still be carried out\n/);
      });
      // Each waits for a second.
      await Promise.all(ends);
    } finally {
      for (const socket of sockets) socket.destroy();
      hole.close();
    }
  });
});

describe("credentials of an invocation", () => {
  const secret = "canary-4711";
  const withPassword = async (): Promise<readonly string[]> => {
    await writeFile(join(person.home, "password"), secret, { mode: 0o600 });
    return ["--password-file", join(person.home, "password")];
  };

  test("are not sent to a function that asks for some of its own", async () => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 401, "who are you?", { ...ofFunction, "www-authenticate": 'Basic realm="Restricted"' }),
    );
    const { code, stdout } = await run(gateway.url, ["invoke", "hello", "-d", "x", ...(await withPassword())]);
    expect([code, stdout]).toEqual([7, "who are you?"]);
    expect(gateway.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("are sent once the gateway asks, and shown nowhere", async () => {
    await using gateway = await openScriptedGateway((response, { headers }) =>
      headers.authorization === undefined
        ? replyWith(response, 401, "invalid credentials", { "x-weir-auth": "required" })
        : replyWith(response, 200, "done", ofFunction),
    );
    for (const body of [["-d", "body"], []]) {
      const args = ["invoke", "hello", ...body, "--debug", ...(await withPassword())];
      const { code, stdout, stderr } = await run(gateway.url, args, "body");
      expect([code, stdout]).toEqual([0, "done"]);
      expect(stderr).not.toContain(secret);
      expect(stderr).not.toContain(Buffer.from(`admin:${secret}`).toString("base64"));
    }
    const authorization = `Basic ${Buffer.from(`admin:${secret}`).toString("base64")}`;
    expect(gateway.requests.map(({ headers, body }) => [headers.authorization, body])).toEqual([
      [undefined, "body"],
      [authorization, "body"],
      [undefined, "body"],
      [authorization, "body"],
    ]);
  });
});

describe.concurrent("a queued call of which nobody knows whether it is queued", () => {
  const unknown = { "x-call-queued": "unknown", "retry-after": "1" };
  const again = (most: string): string =>
    `The gateway does not know whether the call is queued; sending it again, for ${most} at most\n`;

  test("is sent again under its id, which is said once", async () => {
    await using gateway = await openScriptedGateway((response, { headers }, number) => {
      const callId = String(headers["x-call-id"]);
      if (number < 3) replyWith(response, 503, "Cannot queue call: no answer", { ...unknown, "x-call-id": callId });
      else replyWith(response, 202, "", { "x-call-id": callId });
    });
    const { code, stdout, stderr } = await run(gateway.url, ["invoke", "hello", "--async", "-f", "-"], "body");
    expect([code, stderr]).toEqual([0, again("1m")]);
    expect(gateway.requests.map(({ headers, body }) => `${String(headers["x-call-id"])}\n${body}`)).toEqual(
      Array.from({ length: 3 }, () => `${stdout}body`),
    );
  });

  test("is exit code 6 when that stays so", async () => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 503, "Cannot queue call: no answer", { ...unknown, "x-call-id": id }),
    );
    const args = ["invoke", "hello", "--async", "--id", id, "-d", "x", "--timeout", "4s"];
    const { code, stdout, stderr } = await run(gateway.url, args);
    expect([code, stdout]).toEqual([6, ""]);
    expect(stderr).toBe(`${again("4s")}Cannot queue call: no answer; it may still run\nTry: weir calls show ${id}\n`);
    expect(gateway.requests.length).toBeGreaterThan(1);
  });

  test("is sent again also while the gateway is away", async () => {
    await using gateway = await openScriptedGateway((response, { headers }, number) => {
      const callId = String(headers["x-call-id"]);
      if (number === 1) replyWith(response, 503, "Cannot queue call: no answer", unknown);
      if (number === 2) response.socket?.resetAndDestroy();
      if (number === 3) replyWith(response, 502, "Bad Gateway");
      if (number === 4) replyWith(response, 202, "", { "x-call-id": callId });
    });
    const { code, stdout } = await run(gateway.url, ["invoke", "hello", "--async", "-d", "x"]);
    expect(code).toBe(0);
    expect(gateway.requests.map(({ headers }) => `${String(headers["x-call-id"])}\n`)).toEqual(
      Array.from({ length: 4 }, () => stdout),
    );
  });

  test("is not sent again when it is known not to be queued", async () => {
    await using gateway = await openScriptedGateway((response) =>
      replyWith(response, 429, "Cannot queue call: full", { "x-call-queued": "no", "retry-after": "1" }),
    );
    const { code, stdout, stderr } = await run(gateway.url, ["invoke", "hello", "--async", "-d", "x"]);
    expect([code, stdout, stderr]).toEqual([5, "", "Cannot queue call: full\n"]);
    expect(gateway.requests).toHaveLength(1);
  });
});

describe.concurrent("a log that is followed", () => {
  const line = (second: number, text: string): string =>
    `${JSON.stringify({ name: "hello", namespace: "n", instance: "hello-1-0", timestamp: `2026-01-31T12:00:${second}Z`, text: `${text}\n` })}\n`;
  const gone = { code: "function_not_found", detail: "Cannot find it" };

  test("goes on where it broke, without a line twice, until the function is gone", async () => {
    await using gateway = await openScriptedGateway((response, _, number) => {
      if (number === 4) return replyWith(response, 404, gone, { "content-type": "application/problem+json" });
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      if (number === 1)
        response.write(`${line(20, "one")}${line(21, "two")}\n${line(21, "three").slice(0, 30)}`, () =>
          response.socket?.resetAndDestroy(),
        );
      if (number === 2) response.end(`${line(20, "one")}${line(21, "two")}${line(21, "three")}`);
      if (number === 3) response.end(`${line(21, "two")}${line(21, "three")}${line(22, "four")}`);
      return undefined;
    });
    const { code, stdout, stderr } = await run(gateway.url, ["logs", "hello", "-f", "--tail", "5"]);
    expect(stdout.split("\n").map((text) => text.split("  ").at(-1))).toEqual(["one", "two", "three", "four", ""]);
    expect(stderr).toBe("The connection broke; going on as soon as the gateway is back\n");
    expect(code).toBe(0);
    const [first, ...later] = gateway.requests.map(({ target }) => new URL(target, "http://x").searchParams);
    expect([first?.get("tail"), first?.get("since"), first?.get("follow")]).toEqual(["5", null, "true"]);
    for (const query of later) {
      expect(query.get("tail")).toBeNull();
      expect(query.get("since")).toMatch(/^2026-01-31T12:00:1[12]\.000Z$/);
    }
  });

  test("that is not followed goes on after a break, too, and ends", async () => {
    await using gateway = await openScriptedGateway((response, _, number) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      if (number === 1) response.write(line(20, "one"), () => void response.socket?.resetAndDestroy());
      else response.end(`${line(20, "one")}${line(21, "two")}`);
    });
    const { code, stdout } = await run(gateway.url, ["logs", "hello"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").map((text) => text.split("  ").at(-1))).toEqual(["one", "two", ""]);
  });

  test("goes on however long it was silent before the break", async () => {
    await using gateway = await openScriptedGateway((response, _, number) => {
      if (number === 2) return replyWith(response, 404, gone, { "content-type": "application/problem+json" });
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(line(20, "one"), () => void setTimeout(() => response.socket?.resetAndDestroy(), 2_500));
      return undefined;
    });
    const { code, stdout } = await run(gateway.url, ["logs", "hello", "-f", "--timeout", "1s"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/one\n$/);
    expect(gateway.requests).toHaveLength(2);
  });

  test("is exit code 5 when the gateway stays away", async () => {
    const gateway = await openScriptedGateway((response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(line(20, "one"));
    });
    await using command = startCommand(person, ["logs", "hello", "-f", "--timeout", "1s", "--gateway", gateway.url]);
    try {
      await once(command.stdout, "data");
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
    expect(await command.end).toBe(5);
    expect(command.stderr()).toMatch(/^The connection broke; .*\nCannot reach Weir at \S+: nothing listens there\n/);
  });

  test("ends with Ctrl-C, exit code 130", async () => {
    await using gateway = await openScriptedGateway((response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(line(20, "one"));
    });
    await using command = startCommand(person, ["logs", "hello", "-f", "--gateway", gateway.url]);
    await once(command.stdout, "data");
    command.interrupt();
    expect(await command.end).toBe(130);
    expect(command.stderr()).toBe("");
  });
});

describe("a reply of any length", () => {
  /** Many times what the command may hold. */
  const long = 256 * 1024 * 1024;
  /** Writes `length` bytes, no faster than they are taken. */
  const writeBytes = (response: ServerResponse, length: number, wrote: (bytes: number) => void): void => {
    const chunk = Buffer.alloc(65_536, 7);
    response.writeHead(200, { ...ofFunction, "content-type": "application/octet-stream" });
    let sent = 0;
    const push = (): void => {
      while (sent < length) {
        const more = response.write(chunk);
        sent += chunk.byteLength;
        wrote(sent);
        if (!more) {
          response.once("drain", push);
          return;
        }
      }
      response.end();
    };
    push();
  };
  /** Megabytes that the process has for itself, without the pages of its program that all Node.js processes share. */
  const ownMemory = async (pid: number): Promise<number> => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  };

  test("256 MiB go through in at most 80 MB of memory", async () => {
    await using gateway = await openScriptedGateway((response) => writeBytes(response, long, () => {}));
    await using command = startCommand(person, ["invoke", "hello", "-q", "-d", "x", "--gateway", gateway.url]);
    let received = 0;
    let measured = 0;
    let peak = 0;
    for await (const chunk of command.stdout as AsyncIterable<Buffer>) {
      received += chunk.byteLength;
      if (received - measured < 8 * 1024 * 1024 && received < long) continue;
      measured = received;
      // After the last byte it may be gone already.
      if (received < long) peak = Math.max(peak, await ownMemory(command.pid));
    }
    expect(await command.end).toBe(0);
    expect(received).toBe(long);
    expect(peak).toBeGreaterThan(10);
    expect(peak).toBeLessThanOrEqual(80);
  });

  test("is taken no faster than it is read", async () => {
    const length = 64 * 1024 * 1024;
    let sent = 0;
    await using gateway = await openScriptedGateway((response) =>
      writeBytes(response, length, (bytes) => {
        sent = bytes;
      }),
    );
    await using command = startCommand(person, ["invoke", "hello", "-q", "-d", "x", "--gateway", gateway.url]);
    let before = -1;
    await eventually(
      () => {
        const stopped = sent > 0 && sent === before;
        before = sent;
        return stopped;
      },
      { every: 1_000, what: "the gateway to be held up" },
    );
    // What sockets and pipes hold, not the command.
    expect(before).toBeLessThan(32 * 1024 * 1024);
    expect(await ownMemory(command.pid)).toBeLessThanOrEqual(80);
    let received = 0;
    for await (const chunk of command.stdout as AsyncIterable<Buffer>) received += chunk.byteLength;
    expect(await command.end).toBe(0);
    expect(received).toBe(length);
  });

  test("that nobody reads does not keep Ctrl-C waiting", async () => {
    let sent = 0;
    await using gateway = await openScriptedGateway((response) =>
      writeBytes(response, long, (bytes) => {
        sent = bytes;
      }),
    );
    await using command = startCommand(person, ["invoke", "hello", "-q", "-d", "x", "--gateway", gateway.url]);
    await eventually(() => sent > 0, { what: "the reply" });
    command.interrupt();
    expect(await command.end).toBe(130);
  });
});
