import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { FunctionStatus } from "../../../runtime/api/schemas/function-status.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
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
  const deployment = { service: "upper", image: "upper", envProcess: "tr a-z A-Z" };
  const reply = await fetch(`${weir.url}/system/functions?wait=60s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify(deployment),
  });
  expect(reply.status).toBe(202);
});

afterAll(async () => {
  await weir.stop();
  await person[Symbol.asyncDispose]();
  await data.remove();
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
