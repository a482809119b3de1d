import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readdir, readFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { environment } from "../../../runtime/process/settings.ts";
import {
  cliCommand,
  gatewayEnvironment,
  openCliHome,
  type CliHome,
  type CommandEnd,
  type CommandOptions,
} from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { openConnectProxy, openGatewayStandIn } from "../../support/gateway-stand-in.ts";
import { openShell } from "../../support/shell-session.ts";
import { selfSigned } from "../../support/self-signed.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** How the command ends when something fails, by real failures. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(args, { ...options, environment: { ...gatewayEnvironment(weir), ...options.environment } });
/** Without credentials: they would not be sent over http to other machines, and are wrong elsewhere. */
const runAt = (gateway: string, ...args: readonly string[]): Promise<CommandEnd> =>
  person.run([...args, "--gateway", gateway]);

beforeAll(async () => {
  data = await tempDirectory("cli-failures");
  person = await openCliHome();
  weir = await startWeir({ data: data.path, flags: ["--edition", "community"] });
});

afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

/** A server that does this with each connection once something was sent. */
async function peer(act: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let asked = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    socket.once("data", () => {
      asked++;
      act(socket);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `http://127.0.0.1:${port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

describe("a gateway that refuses", () => {
  test("for want of credentials: 4, and how to sign in", async () => {
    expect(await runAt(weir.url, "list")).toEqual({
      code: 4,
      stdout: "",
      stderr: `Cannot answer this request: it has no credentials\nTry: weir login ${weir.url}\n`,
    });
  });

  test("wrong credentials: 4, and how to sign in", async () => {
    expect(await run(["list", "--password-stdin"], { input: "wrong" })).toEqual({
      code: 4,
      stdout: "",
      stderr: `Cannot answer this request: its credentials are wrong\nTry: weir login ${weir.url}\n`,
    });
  });

  test("what the edition does not have (403): 4", async () => {
    const { code, stdout, stderr } = await run(["namespaces", "create", "another"]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^Cannot .*edition.*\n$/);
  });

  test("what is not there (404): 3, and what there is", async () => {
    const { code, stderr } = await run(["describe", "nothing"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Cannot .*"nothing".*\nTry: weir list\n$/);
  });

  test("because its broker is away (503): 5, and what to ask", async () => {
    const broker = weir.below().find(({ command }) => command.includes("nats-server"));
    if (broker === undefined) throw new Error("Cannot find the broker of Weir");
    process.kill(broker.pid, "SIGSTOP");
    try {
      const { code, stdout, stderr } = await run(["queues", "list"]);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
      expect(stderr).toMatch(/^Cannot .*\nTry: weir doctor\n$/);
    } finally {
      process.kill(broker.pid, "SIGCONT");
    }
    await eventually(async () => (await run(["queues", "list"])).code === 0, { what: "the broker to be back" });
  });
});

describe("a gateway out of reach is exit code 5", () => {
  test("when nothing listens", async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    expect(await runAt(address, "list")).toEqual({
      code: 5,
      stdout: "",
      stderr: `Cannot reach Weir at ${address}: nothing listens there\nTry: weir dev\n`,
    });
  });

  test("when its name has no address", async () => {
    const { code, stderr } = await runAt("https://no-such-host.invalid", "list");
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /^Cannot reach Weir at https:\/\/no-such-host\.invalid: its name has no address \(E\w+\)\n$/,
    );
  });

  test("when its certificate is not trusted", async () => {
    await using gateway = await openGatewayStandIn({ tls: await selfSigned() });
    const address = `https://127.0.0.1:${gateway.port}`;
    expect(await runAt(address, "whoami")).toEqual({
      code: 5,
      stdout: "",
      stderr: `Cannot reach Weir at ${address}: its certificate is not trusted (self-signed certificate); name a file with its authority with --ca-file\n`,
    });
    const insecure = await runAt(address, "whoami", "-o", "name", "--tls-insecure");
    expect(insecure).toEqual({
      code: 0,
      stdout: "nobody\n",
      stderr: "Any certificate is accepted: whoever is on the way can read and change all\n",
    });
  });

  test("when it does not speak TLS", async () => {
    const address = weir.url.replace("http:", "https:");
    expect(await runAt(address, "list")).toEqual({
      code: 5,
      stdout: "",
      stderr: `Cannot reach Weir at ${address}: it does not speak TLS; is it http:// instead of https://?\n`,
    });
  });

  test.each<readonly [string, (socket: Socket) => void, number, string]>([
    [
      "before",
      (socket) => socket.resetAndDestroy(),
      5,
      "Cannot reach Weir at ADDRESS: the connection was closed before a reply",
    ],
    [
      "in the middle of",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[", () => socket.resetAndDestroy()),
      5,
      "Cannot read the reply: the connection was closed before its end",
    ],
  ])("when the connection is reset %s the reply", async (_, act, code, sentence) => {
    await using gateway = await peer(act);
    const ended = await runAt(gateway.address, "list");
    expect(ended).toEqual({ code, stdout: "", stderr: `${sentence.replace("ADDRESS", gateway.address)}\n` });
  });

  test("unless it is silent: then the time is over, 6", async () => {
    await using gateway = await peer(() => {});
    expect(await runAt(gateway.address, "list", "--timeout", "1s")).toEqual({
      code: 6,
      stdout: "",
      stderr: `Cannot reach Weir at ${gateway.address}: no reply within 1s; the request may still be carried out\n`,
    });
  });
});

describe("proxies", () => {
  test("are used as HTTPS_PROXY and NO_PROXY say", async () => {
    await using gateway = await openGatewayStandIn({ tls: await selfSigned() });
    await using proxy = await openConnectProxy(gateway.port);
    const args = ["whoami", "-o", "name", "--tls-insecure", "--gateway", "https://weir.invalid"];
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await person.run(args, { environment: env })).toMatchObject({ code: 0, stdout: "nobody\n" });
    const direct = await person.run(args, { environment: { ...env, NO_PROXY: "weir.invalid" } });
    expect(direct).toMatchObject({ code: 5, stderr: expect.stringContaining("its name has no address") as string });
  });

  test("are never used for this machine", async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const env = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead };
    expect(await run(["list", "-o", "json"], { environment: env })).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  test("that are none are exit code 2", async () => {
    const env = { HTTPS_PROXY: "::" };
    expect(await person.run(["list", "--gateway", "https://weir.invalid"], { environment: env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Cannot use the proxy of HTTP_PROXY or HTTPS_PROXY: .*\n$/) as string,
    });
  });
});

const [program, ...first] = cliCommand;

/** The command with its streams in the hands of the test. */
function start(args: readonly string[], env: Record<string, string> = {}, stdout: "pipe" | number = "pipe") {
  const child = spawn(program, [...first, ...args], {
    cwd: person.home,
    env: { HOME: person.home, PATH: environment()["PATH"], ...env },
    stdio: ["pipe", stdout, "pipe"],
  });
  const said = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (said.text += text));
  const closed = once(child, "close") as Promise<[code: number | null]>;
  return { child, said, code: async () => (await closed)[0] };
}

describe("a reader that goes away", () => {
  test.each([[["help"]], [["list"]], [["completion", "bash"]]])(
    "before weir %j writes ends it quietly",
    async (args) => {
      const { child, said, code } = start(args, gatewayEnvironment(weir));
      child.stdout?.destroy();
      expect(await code()).toBe(0);
      expect(said.text).toBe("");
    },
  );

  test("after a line, as head does, ends it quietly", async () => {
    await using shell = openShell({ directory: person.home });
    const line = [...cliCommand, "help"].map((word) => `'${word}'`).join(" ");
    expect(await shell.run(`HOME=. ${line} | head -n 1`)).toEqual({
      code: 0,
      stdout: "Usage: weir <command> [options]\n",
      stderr: "",
    });
  });
});

test("a full disk is said, with exit code 1", async () => {
  const full = await open("/dev/full", "w");
  const { said, code } = start(["completion", "bash"], {}, full.fd);
  expect(await code()).toBe(1);
  await full.close();
  expect(said.text).toMatch(/^Cannot write the result: the disk is full\n$/);
});

describe("Ctrl-C", () => {
  test.each([
    ["while a reply is awaited", ["list"]],
    ["while the reply to a call is awaited", ["invoke", "hello"]],
  ])("%s ends the command within 200 ms with exit code 130, and nothing is said", async (_, args) => {
    await using gateway = await peer(() => {});
    const times: number[] = [];
    // The machine may have other things to do at one time, but not each time.
    for (let attempt = 1; attempt <= 8 && !times.some((time) => time <= 200); attempt++) {
      const { child, said, code } = start([...args, "--gateway", gateway.address]);
      child.stdin?.end();
      await eventually(() => gateway.asked() === attempt, { what: "a request" });
      const from = performance.now();
      child.kill("SIGINT");
      expect(await code()).toBe(130);
      times.push(performance.now() - from);
      expect(said.text).toBe("");
    }
    expect(Math.min(...times)).toBeLessThanOrEqual(200);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("while standard input is awaited, by %s", async (signal) => {
    const { child, said, code } = start(["login", weir.url, "--password-stdin"]);
    await eventually(() => isReading(child.pid ?? 0), { what: "the command to read its input" });
    child.kill(signal);
    expect(await code()).toBe(130);
    expect(said.text).toBe("");
  });
});

/** Whether a process waits for its standard input. */
async function isReading(pid: number): Promise<boolean> {
  const directory = `/proc/${pid}/fdinfo`;
  const texts = (await readdir(directory)).map((name) => readFile(join(directory, name), "utf8").catch(() => ""));
  return (await Promise.all(texts)).some((text) => /^tfd: +0 /m.test(text));
}

test("an error is told once, and its stack with --debug alone", async () => {
  const plain = await run(["describe", "nothing"]);
  const debug = await run(["describe", "nothing", "--debug"]);
  expect(plain.stderr).not.toMatch(/^ {4}at /m);
  expect(debug.stderr).toMatch(/^ {4}at /m);
  expect(debug.stderr).toContain("< 404\n");
});

test("who guesses passwords is told to wait, and locks out nobody at the same address", async () => {
  const headers = { authorization: `Basic ${Buffer.from("admin:wrong").toString("base64")}` };
  const guess = async (): Promise<number> => (await fetch(`${weir.url}/system/info`, { headers })).status;
  for (let attempt = 0; attempt < 20; attempt++) await guess();
  expect(await guess()).toBe(429);
  expect(await run(["list"])).toMatchObject({ code: 0, stderr: "" });
});
