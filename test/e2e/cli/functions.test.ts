import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { FunctionStatus } from "../../../runtime/api/schemas/function-status.ts";
import { openChaosProxy } from "../../support/chaos-proxy.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { untilHistoryReplies } from "../../support/history-replies.ts";
import { startCommand } from "../../support/running-command.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** The commands of functions, as processes, against a real Weir. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const run = (...args: readonly string[]): Promise<CommandEnd> =>
  person.run(args, { environment: gatewayEnvironment(weir) });

beforeAll(async () => {
  data = await tempDirectory("cli-functions");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
  await deploy({ service: "upper", image: "upper", envProcess: "tr a-z A-Z" });
});

/** Deploys a function, and waits until it is ready. */
async function deploy(deployment: object): Promise<void> {
  const reply = await fetch(`${weir.url}/system/functions?wait=60s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify(deployment),
  });
  expect(reply.status).toBe(202);
}

afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

describe("weir list", () => {
  test("shows a row for each function", async () => {
    const { code, stdout, stderr } = await run("list");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/^NAME +READY +CALLS +STATE +AGE +IMAGE$/);
    expect(stdout).toMatch(/^upper +1\/1 +0 +Ready +\d+[smh] +upper$/m);
  });

  test("-o json is what the API returns", async () => {
    const { stdout } = await run("list", "-o", "json");
    const list = JSON.parse(stdout) as readonly FunctionStatus[];
    expect(list).toMatchObject([{ name: "upper", namespace: "functions", replicas: 1 }]);
  });

  test("an unknown namespace is exit code 3 with the gateway's sentence and a hint", async () => {
    const { code, stdout, stderr } = await run("list", "-n", "nowhere");
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/);
  });
});

describe("weir describe", () => {
  test("shows the conditions with their reasons, then what was deployed", async () => {
    const { code, stdout, stderr } = await run("describe", "upper");
    expect([code, stderr]).toEqual([0, ""]);
    const [conditions = "", fields = ""] = stdout.split("\n\n");
    expect(conditions).toMatch(/^CONDITION +STATUS +SINCE +REASON +MESSAGE\n/);
    expect(conditions).toMatch(/^Ready +True +\d+[smh] +ReplicasReady +\S.*$/m);
    for (const line of [/^name +upper$/m, /^replicas +1 of 1 ready$/m, /^process +tr a-z A-Z$/m, /^image +upper$/m])
      expect(fields).toMatch(line);
  });

  test("-o json is what the API returns, -o name the name", async () => {
    const status = JSON.parse((await run("get", "upper.functions", "-o", "json")).stdout) as FunctionStatus;
    expect(status).toMatchObject({ name: "upper", envProcess: "tr a-z A-Z", labels: { faas_function: "upper" } });
    expect(await run("describe", "upper", "-o", "name")).toEqual({ code: 0, stdout: "upper\n", stderr: "" });
  });
});

describe("weir scale", () => {
  test("sets the number of replicas", async () => {
    const { code, stdout, stderr } = await run("scale", "upper", "2");
    expect([code, stdout, stderr]).toEqual([0, "", 'Function "upper" is scaled to 2 replicas\n']);
    const { stdout: shown } = await run("describe", "upper", "-o", "json");
    expect(JSON.parse(shown)).toMatchObject({ replicas: 2 });
  });

  test("says why it is another number than the one that was asked for", async () => {
    await deploy({ service: "least", image: "least", envProcess: "cat", labels: { "com.service.scale.min": "2" } });
    const { code, stderr } = await run("scale", "least", "1");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Function "least" is scaled to 2 replicas, not 1: .*scale\.min.*\n$/);
  });

  test("more than scale.max is refused with the gateway's sentence", async () => {
    const { code, stderr } = await run("scale", "upper", "21");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot .*\b20\b.*\n$/);
  });
});

describe("weir logs", () => {
  const deployTalking = async (service: string): Promise<void> =>
    deploy({ service, image: service, envProcess: "sh -c 'cat >&2'" });
  const say = async (service: string, text: string): Promise<void> => {
    const reply = await fetch(`${weir.url}/function/${service}`, { method: "POST", body: `${text}\n` });
    expect(reply.status).toBe(200);
  };
  /** The lines that the function was told to write. */
  const spoken = (stdout: string): readonly string[] => stdout.match(/said-\d+/g) ?? [];

  test("shows time, replica and text of each line", async () => {
    await deployTalking("talks");
    await say("talks", "said-1");
    const { stdout } = await eventually(
      async () => {
        const end = await run("logs", "talks");
        return spoken(end.stdout).length > 0 && end;
      },
      { what: "the line in the log" },
    );
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}talks-\S+ {2}.*said-1.*$/m);
    const json = await run("logs", "talks.functions", "--since", "1h", "--tail", "1", "-o", "json");
    expect([json.code, json.stderr]).toEqual([0, ""]);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: "talks", namespace: "functions" });
    expect(spoken((await run("logs", "talks", "--instance", "another")).stdout)).toEqual([]);
    expect(spoken((await run("logs", "talks", "--since", "2999-01-01T00:00:00Z")).stdout)).toEqual([]);
  });

  test("follows over broken connections without a line twice, until the function is deleted", async () => {
    await deployTalking("followed");
    await using proxy = await openChaosProxy(Number(new URL(weir.url).port));
    const environment = { ...gatewayEnvironment(weir), WEIR_GATEWAY: `http://127.0.0.1:${proxy.port}` };
    await using command = startCommand(person, ["logs", "followed", "-f"], environment);
    let stdout = "";
    command.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
    for (let number = 1; number <= 4; number++) {
      await say("followed", `said-${number}`);
      await eventually(() => spoken(stdout).includes(`said-${number}`), { what: `line ${number}` });
      proxy.reset();
    }
    expect((await run("delete", "followed", "--yes")).code).toBe(0);
    expect(await command.end).toBe(0);
    expect(spoken(stdout)).toEqual(["said-1", "said-2", "said-3", "said-4"]);
  });

  test("--call of a call that nobody knows is exit code 3", async () => {
    await untilHistoryReplies(weir);
    const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
    const { code, stdout, stderr } = await run("logs", "upper", "--call", id);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toBe(`Cannot read the logs of call "${id}": function "upper" has no such call, or it expired\n`);
  });
});

describe("weir delete", () => {
  test("removes functions", async () => {
    for (const service of ["one", "two"]) await deploy({ service, image: service, envProcess: "cat" });
    const { code, stdout, stderr } = await run("rm", "one", "two.functions", "one", "--yes");
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toBe('Function "one" is deleted\nFunction "two" is deleted\n');
    expect((await run("list", "-o", "name")).stdout).not.toMatch(/^(?:one|two)$/m);
  });

  test("needs --yes where nobody can be asked", async () => {
    const { code, stdout, stderr } = await run("delete", "upper");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("say --yes");
    expect((await run("describe", "upper")).code).toBe(0);
  });

  test("goes on after one that is not there, and says so in its exit code", async () => {
    await deploy({ service: "three", image: "three", envProcess: "cat" });
    const { code, stderr } = await run("delete", "nobody", "three", "--yes");
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Cannot .*"nobody".*\nFunction "three" is deleted\nTry: weir list\n$/);
  });
});

describe("a command line that cannot be meant", () => {
  test.each([
    [["describe", "Upper"], 'Cannot use function name "Upper"'],
    [["describe", "upper.dev", "-n", "prod"], 'Cannot choose the namespace of "upper"'],
    [["describe"], "missing required argument 'name'"],
    [["scale", "upper", "-1"], 'Cannot scale function "upper" to "-1": it must be a whole number from 0 to 1000'],
    [["scale", "upper", "1.5"], 'Cannot scale function "upper" to "1.5": it must be a whole number from 0 to 1000'],
    [["scale", "upper"], "missing required argument 'replicas'"],
    [["logs", "upper", "--tail", "many"], 'Cannot use --tail "many"'],
    [["logs", "upper", "--since", "yesterday"], 'Cannot use --since "yesterday"'],
    [["logs", "upper", "--call", "xyz"], 'Cannot show the logs of call "xyz"'],
    [["logs", "upper", "-o", "yaml"], "Allowed choices are table, json"],
    [["delete", "a/b", "--yes"], 'Cannot use function name "a/b"'],
    [["delete", "--yes"], "missing required argument 'name'"],
  ])("%j is exit code 2", async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
  });

  test.each([
    ["describe", "nobody"],
    ["scale", "nobody", "1"],
    ["logs", "nobody"],
    ["delete", "nobody", "--yes"],
  ])("%s of an unknown function is exit code 3", async (...args) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^Cannot .*"nobody".*\nTry: weir list\n$/);
  });
});
