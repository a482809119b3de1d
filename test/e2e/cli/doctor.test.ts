import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { DoctorReport, Finding } from "../../../runtime/api/schemas/doctor-report.ts";
import { pointerTo, schemaFindings } from "../../support/api-answers.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { openConnectProxy, openGatewayStandIn } from "../../support/gateway-stand-in.ts";
import { platformCalls } from "../../support/platform-calls.ts";
import { selfSigned } from "../../support/self-signed.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** `weir doctor` as a process, with real problems. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;

beforeAll(async () => {
  data = await tempDirectory("cli-doctor");
  person = await openCliHome();
  weir = await startWeir({ data: data.path, flags: ["--provider", "local", "--nats-ping-interval", "500ms"] });
});
afterAll(async () => {
  await weir?.close();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

const doctor = (...args: readonly string[]): Promise<CommandEnd> =>
  person.run(["doctor", ...args], { environment: gatewayEnvironment(weir) });
/** Without credentials. */
const doctorOf = (gateway: string, args: readonly string[] = [], environment = {}): Promise<CommandEnd> =>
  person.run(["doctor", "--gateway", gateway, "--timeout", "20s", "-o", "json", ...args], { environment });

function findingsIn({ stdout, stderr }: CommandEnd): readonly Finding[] {
  expect(stdout, stderr).not.toBe("");
  return (JSON.parse(stdout) as DoctorReport).findings;
}

/** How much room this machine has is not the test's. */
function levels(findings: readonly Finding[], ...ids: readonly string[]): readonly (readonly [string, string])[] {
  return findings.filter(({ id }) => ids.length === 0 || ids.includes(id)).map(({ id, level }) => [id, level] as const);
}

async function report(): Promise<DoctorReport> {
  const response = await fetch(`${weir.url}/system/doctor`, { headers: { authorization: weir.authorization } });
  expect(response.status).toBe(200);
  return (await response.json()) as DoctorReport;
}

/** The first report that has findings of a check which fit; a report is kept for 10 s. */
function reported(id: string, fits: (finding: Finding) => boolean): Promise<Finding> {
  return eventually(async () => (await report()).findings.find((each) => each.id === id && fits(each)), {
    within: 200_000,
    every: 500,
    what: `a finding of ${id}`,
  });
}

async function deploy(service: string, deployment: object): Promise<void> {
  const response = await fetch(`${weir.url}/system/functions`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service, image: "none", ...deployment }),
  });
  expect([response.status, await response.text()]).toEqual([202, ""]);
}

describe("a Weir without problems", () => {
  test("is ok in every line, and a JSON document of the API's own form", async () => {
    const json = await doctor("-o", "json");
    const found = JSON.parse(json.stdout) as DoctorReport;
    expect(schemaFindings(pointerTo("components", "schemas", "DoctorReport"), found)).toEqual([]);
    const bad = found.findings.filter(({ id, level }) => level !== "ok" && id !== "disk");
    expect(bad).toEqual([]);
    const ids = new Set(found.findings.map(({ id }) => id));
    const ofMachine = ["tcp", "http", "clock", "versions", "files", "builder"];
    const ofPlatform = [
      "timeouts",
      "broker",
      "store",
      "durability",
      "provider",
      "queues",
      "dead-letters",
      "disk",
      "functions",
    ];
    expect([...ids]).toEqual([...ofMachine, ...ofPlatform]);
    expect(found.parts.map(({ part, replicas, ready }) => [part, replicas, ready])).toEqual([
      ["gateway", 1, 1],
      ["queue-worker", 1, 1],
      ["broker", 1, 1],
    ]);

    const { code, stdout, stderr } = await doctor();
    const worst = found.findings.some(({ level }) => level === "problem") ? 1 : 0;
    expect([code, stderr === ""]).toEqual([worst, worst === 0]);
    expect(stdout).toMatch(/^ok {7}port \d+ +It accepts connections$/m);
    expect(stdout).toMatch(/^ok {7}broker +nats-server [\d.]+ replies and stores$/m);
    expect(stdout.match(/^(?:ok|warning|problem) /gm)).toHaveLength(found.findings.length);
  });

  test("with a wrong password is a problem of the credentials, and the way to it is not", async () => {
    const file = join(person.home, "wrong");
    await writeFile(file, "wrong", { mode: 0o600 });
    const end = await doctor("-o", "json", "--password-file", file);
    expect(end.code).toBe(1);
    expect(end.stderr).toBe("Found 1 problem\n");
    const findings = findingsIn(end);
    expect(levels(findings, "tcp", "http", "credentials")).toEqual([
      ["tcp", "ok"],
      ["http", "ok"],
      ["credentials", "problem"],
    ]);
    expect(findings.find(({ id }) => id === "credentials")?.advice).toMatch(/^weir login http/);
  });

  test("a password file that others can read is a problem", async () => {
    const file = gatewayEnvironment(weir)["WEIR_PASSWORD_FILE"] ?? "";
    await chmod(file, 0o644);
    const { code, stdout } = await doctor();
    await chmod(file, 0o600);
    expect(code).toBe(1);
    expect(stdout).toContain(`Try: chmod 600 ${file}\n`);
  });
});

describe("what is wrong with the platform", () => {
  test("is a problem or warning with what to do: Stalled, dead letters, a timeout that exec_timeout cuts", async () => {
    await deploy("crashing", { envProcess: "node -e 'process.exit(3)'", envVars: { mode: "http" } });
    await deploy("failing", { envProcess: "false", annotations: { "com.service.retry.attempts": "0" } });
    await deploy("cut", {
      envProcess: "cat",
      envVars: { exec_timeout: "5s" },
      annotations: { "com.service.timeout": "20s" },
    });
    const calls = platformCalls(weir.url);
    expect(await calls.ended(await calls.accepted("failing"), 200_000)).toMatchObject({ state: "failed" });
    await reported("functions", ({ sentence }) => sentence.startsWith("Stalled"));
    await reported("dead-letters", ({ level }) => level === "warning");
    await reported("timeouts", ({ level }) => level === "problem");

    const { code, stdout, stderr } = await doctor();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Found \d problems\n$/);
    expect(stdout).toMatch(
      /^problem {2}function "crashing\.functions" +Stalled .*\n +Try: look at weir describe crashing\.functions$/m,
    );
    expect(stdout).toMatch(
      /^warning {2}queue "default" +1 call .*\n +Try: .* weir dead-letters list --queue default$/m,
    );
    expect(stdout).toMatch(
      /^problem {2}function "cut\.functions" +exec_timeout 5s ends every call after 6s, .* exec_timeout 5s \(smallest\) < com\.service\.timeout 20s < .*\n +Try: set exec_timeout to 19s, or com\.service\.timeout to 6s$/m,
    );
    // What the advice names works.
    const environment = gatewayEnvironment(weir);
    for (const args of ["describe crashing.functions", "dead-letters list --queue default"])
      expect([args, (await person.run(args.split(" "), { environment })).code]).toEqual([args, 0]);
  });

  test("a broker that is away is a problem of the report, not an error of the route", async () => {
    const broker = weir.below().find(({ command }) => command.includes("nats-server"));
    if (broker === undefined) throw new Error("Cannot find the broker among the processes of Weir");
    process.kill(broker.pid, "SIGSTOP");
    try {
      const found = await reported("broker", ({ level }) => level === "problem");
      expect(found.advice).toMatch(/^look at /);
      const end = await doctor("-o", "json");
      expect(end.code).toBe(1);
      expect(levels(findingsIn(end), "http", "broker", "queues")).toEqual([
        ["http", "ok"],
        ["broker", "problem"],
        ["queues", "warning"],
      ]);
    } finally {
      process.kill(broker.pid, "SIGCONT");
    }
    await reported("broker", ({ level }) => level === "ok");
  });
});

describe("the way to the gateway", () => {
  test("without a gateway ends at the port", async () => {
    const end = await doctorOf(`http://127.0.0.1:${await freePort()}`);
    expect(end.code).toBe(1);
    expect(levels(findingsIn(end), "tcp", "http", "versions")).toEqual([["tcp", "problem"]]);
    expect(findingsIn(end)[0]).toMatchObject({
      advice: "weir dev",
      sentence: expect.stringContaining("nothing listens"),
    });
  });

  test("without an address ends at the name", async () => {
    const end = await doctorOf("https://nowhere.invalid");
    expect(end.code).toBe(1);
    expect(levels(findingsIn(end), "dns", "tcp", "tls", "http")).toEqual([["dns", "problem"]]);
  });

  test("an older gateway without /system/doctor is a warning beside this machine's own findings", async () => {
    await using older = await openGatewayStandIn();
    const end = await doctorOf(`http://localhost:${older.port}`);
    expect([end.code, end.stderr]).toEqual([0, ""]);
    expect(levels(findingsIn(end))).toEqual([
      ...["dns", "tcp", "http", "clock", "versions"].map((id) => [id, "ok"]),
      ["doctor", "warning"],
      ...["files", "builder"].map((id) => [id, "ok"]),
    ]);
  });

  test("another major version and a clock that is off are problems", async () => {
    await using other = await openGatewayStandIn({ version: "2.0", ahead: 60_000 });
    const end = await doctorOf(`http://127.0.0.1:${other.port}`);
    expect(end.code).toBe(1);
    expect(levels(findingsIn(end), "tcp", "clock", "versions")).toEqual([
      ["tcp", "ok"],
      ["clock", "problem"],
      ["versions", "problem"],
    ]);
  });

  test("a certificate is a problem if nobody trusts it, and a warning if it ends soon", async () => {
    const tls = await selfSigned();
    await using secure = await openGatewayStandIn({ tls });
    const address = `https://localhost:${secure.port}`;
    const stranger = await doctorOf(address);
    expect(stranger.code).toBe(1);
    expect(levels(findingsIn(stranger), "tcp", "tls", "http")).toEqual([
      ["tcp", "ok"],
      ["tls", "problem"],
    ]);
    const authority = join(person.home, "authority.pem");
    await writeFile(authority, tls.cert);
    const friend = await doctorOf(address, ["--ca-file", authority]);
    expect(friend.code).toBe(0);
    expect(levels(findingsIn(friend), "tls", "http")).toEqual([
      ["tls", "warning"],
      ["http", "ok"],
    ]);
  });

  test("a proxy is named apart: where it leads, and where it does not", async () => {
    const address = "https://weir.test";
    await using secure = await openGatewayStandIn({ tls: await selfSigned() });
    await using leading = await openConnectProxy(secure.port);
    const through = { HTTPS_PROXY: `http://127.0.0.1:${leading.port}` };
    const led = await doctorOf(address, ["--tls-insecure"], through);
    expect(levels(findingsIn(led), "dns", "proxy", "tcp", "tls", "http")).toEqual([
      ["proxy", "ok"],
      ["tls", "warning"],
      ["http", "ok"],
    ]);
    expect(led.code).toBe(0);

    await using refusing = await openConnectProxy(undefined);
    const refused = await doctorOf(address, [], { HTTPS_PROXY: `http://127.0.0.1:${refusing.port}` });
    expect(refused.code).toBe(1);
    const [proxy] = findingsIn(refused);
    expect(proxy).toMatchObject({
      id: "proxy",
      level: "problem",
      advice: "correct HTTPS_PROXY, or name weir.test in NO_PROXY",
    });
    expect(levels(findingsIn(refused), "tls", "http")).toEqual([]);
  });

  test("a password that would cross a network without TLS is a problem, and is not sent", async () => {
    const environment = { ...gatewayEnvironment(weir), WEIR_GATEWAY: "http://192.0.2.1:8080" };
    const end = await person.run(["doctor", "-o", "json", "--timeout", "500ms"], { environment });
    expect(end.code).toBe(1);
    expect(findingsIn(end)).toContainEqual(
      expect.objectContaining({
        id: "credentials",
        sentence: expect.stringContaining("without TLS anybody on the way"),
      }),
    );
  });
});
