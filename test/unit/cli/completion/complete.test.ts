import { once } from "node:events";
import { writeFile, mkdir } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { runCli } from "../../../../runtime/cli/run-cli.ts";
import { heardTerminal, type HeardTerminalOptions } from "../../../support/heard-terminal.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function complete(args: readonly string[], options?: HeardTerminalOptions) {
  const terminal = heardTerminal(options);
  const code = await runCli(["__complete", ...args], terminal);
  return { code, stderr: terminal.written.stderr, lines: terminal.written.stdout.split("\n").slice(0, -1) };
}

async function gateway(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const call = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const names: RequestListener = ({ url, headers }, response) => {
  const { pathname, searchParams } = new URL(url ?? "", "http://weir");
  const namespace = searchParams.get("namespace");
  const lists: Readonly<Record<string, unknown>> = {
    "/system/functions": ["upper", "hello", "$(touch x)", "a\nb", ""].map((name) => ({ name })),
    "/system/secrets": [{ name: `key-of-${namespace ?? "default"}` }],
    "/system/queues": [{ name: headers.authorization ?? "nobody" }, { name: "slow" }],
    "/system/namespaces": ["functions", "dev"],
    "/system/calls": {
      items: [{ callId: call, functionName: "hello", namespace: "dev", state: "done", acceptedAt: "" }],
      total: { value: 1, exact: true },
      history: { lagSeconds: 0, complete: true, gaps: [] },
    },
  };
  response.end(JSON.stringify(lists[pathname]));
};

describe("words after the program's name", () => {
  test("are commands with their summaries, by what is typed", async () => {
    expect(await complete(["--", "logo"])).toEqual({
      code: 0,
      stderr: "",
      lines: ["logout\tremove stored credentials"],
    });
    expect((await complete(["--", ""])).lines.length).toBeGreaterThan(20);
    expect((await complete(["--", "context", "l"])).lines).toEqual(["list\tlist named gateways"]);
    expect((await complete(["--", "list", "-o", "js"])).lines).toEqual(["json"]);
    expect((await complete(["--", "login", "--ca-file", ""])).lines).toEqual([":files"]);
  });

  test.each([[[]], [["--"]], [["--", "nothing", ""]], [["--line"]], [["--line", "weir 'x"]], [["nonsense"]]])(
    "%j is no error",
    async (args) => {
      expect(await complete(args)).toMatchObject({ code: 0, stderr: "" });
    },
  );
});

test.each([
  ["weir logo", ["logout\tremove stored credentials"]],
  ["/usr/bin/weir  context   li", ["list\tlist named gateways"]],
  ["weir list -o ", ["table", "json", "yaml", "name"]],
  ["weir list -o 'js", []],
  ["weir list --sort 'name' -o y", ["yaml"]],
])("the line %j", async (line, lines) => {
  expect((await complete(["--line", line])).lines).toEqual(lines);
});

describe("names", () => {
  test("are those of the gateway and namespace that the line names, and only plain ones", async () => {
    await using weir = await gateway(names);
    await using home = await tempDirectory("complete");
    await writeFile(join(home.path, "token"), "t");
    const found = async (...words: readonly string[]) => (await complete(["--", ...words], { home: home.path })).lines;
    const flags = ["--gateway", weir.address];
    expect(await found("describe", ...flags, "")).toEqual(["hello", "upper"]);
    expect(await found("describe", ...flags, "u")).toEqual(["upper"]);
    expect(await found("secrets", "delete", ...flags, "-n", "dev", "")).toEqual(["key-of-dev"]);
    expect(await found("list", ...flags, "--namespace=d")).toEqual(["--namespace=dev"]);
    expect(await found("list", ...flags, "-n", "")).toEqual(["dev", "functions"]);
    expect(await found("queues", "show", ...flags, "")).toEqual(["nobody", "slow"]);
    // With credentials the first queue is named by them, with a space in it.
    expect(await found("queues", "show", ...flags, "--token-file", join(home.path, "token"), "")).toEqual(["slow"]);
    expect(await found("calls", "show", ...flags, "7f")).toEqual([call]);
  });

  test("of contexts are those of the file", async () => {
    await using home = await tempDirectory("complete");
    await mkdir(join(home.path, ".config", "weir"), { recursive: true });
    await writeFile(
      join(home.path, ".config", "weir", "contexts.yaml"),
      "contexts: { b: { gateway: x }, a: { gateway: y } }",
    );
    expect((await complete(["--", "context", "use", ""], { home: home.path })).lines).toEqual(["a", "b"]);
    expect((await complete(["--", "list", "--context=b"], { home: home.path })).lines).toEqual(["--context=b"]);
  });

  test.each<readonly [string, RequestListener]>([
    ["refuses", (_, response) => response.writeHead(401).end("invalid credentials")],
    ["sends no JSON", (_, response) => response.end("<html>")],
    ["sends something else", (_, response) => response.end('{"a":1}')],
    ["sends null", (_, response) => response.end("[null]")],
    ["is away", (request) => request.socket.destroy()],
  ])("are none of a gateway that %s", async (_, listener) => {
    await using weir = await gateway(listener);
    expect(await complete(["--", "describe", "--gateway", weir.address, ""])).toEqual({
      code: 0,
      stderr: "",
      lines: [],
    });
  });

  test("are none of a gateway that takes longer than 300 ms", async () => {
    await using weir = await gateway(() => {});
    const times: number[] = [];
    // The machine may have other things to do at one time, but not each time.
    for (let attempt = 0; attempt < 10 && !times.some((time) => time < 600); attempt++) {
      const start = performance.now();
      expect((await complete(["--", "describe", "--gateway", weir.address, ""])).lines).toEqual([]);
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThan(600);
  });

  test("are not asked of anybody when the flags are wrong, and no input is read", async () => {
    const input = new (await import("node:stream")).PassThrough();
    const args = ["--", "describe", "--gateway", "ftp://x", "--password-stdin", ""];
    expect(await complete(args, { input })).toEqual({ code: 0, stderr: "", lines: [] });
    expect(input.readableFlowing).toBeNull();
  });
});
