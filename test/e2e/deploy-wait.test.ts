import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What somebody who deploys and waits gets to read. */
let data: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("deploy-wait");
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

function put(envProcess: string): Promise<Response> {
  return fetch(`${weir.url}/system/functions?wait=60s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service: "waited", image: "none", envProcess, envVars: { mode: "http" } }),
  });
}
const serving = `node -e 'require("node:http").createServer((q, r) => r.end("good")).listen(process.env.PORT, "127.0.0.1")'`;
const failing = `node -e 'console.error("cannot find the way"); process.exit(3)'`;

test("PUT with wait ends when the function is ready; a failure is reported, and the old one serves", async () => {
  const good = await put(serving);
  expect([good.status, await good.text()]).toEqual([202, ""]);
  const call = async () => (await fetch(`${weir.url}/function/waited`)).text();
  expect(await call()).toBe("good");

  const bad = await put(failing);
  const message = await bad.text();
  expect(bad.status, message).toBe(409);
  const pattern =
    /^Cannot get function "waited" ready: (?<why>.+) \(calls are still served by the deployment before\)\n/;
  const why = pattern.exec(message)?.groups?.["why"] ?? "";
  expect(why, message).toMatch(/ended/);
  expect(await call()).toBe("good");

  const headers = { authorization: weir.authorization };
  const list = (await (await fetch(`${weir.url}/system/functions`, { headers })).json()) as FunctionStatus[];
  const conditions = list.find(({ name }) => name === "waited")?.conditions ?? [];
  expect(conditions).toContainEqual(expect.objectContaining({ type: "Stalled", status: "True" }));
  expect(conditions.find(({ type }) => type === "Ready")).toMatchObject({
    status: "True",
    message: expect.stringMatching(/^1 of 1 replicas is ready, of the previous deployment: .*ended/),
  });
  expect(weir.output()).toContain("function is stalled");
  expect(weir.output()).toContain(JSON.stringify(why).slice(1, -1));
});

test("a wrong port and a failing ready path are logged, even without wait", async () => {
  const deploy = async (service: string, program: string, annotations: Record<string, string>): Promise<void> => {
    const body = { service, image: "none", envProcess: `node -e '${program}'`, envVars: { mode: "http" }, annotations };
    const headers = { authorization: weir.authorization };
    const response = await fetch(`${weir.url}/system/functions`, {
      method: "PUT",
      headers,
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(202);
  };
  const server = (reply: string, port: string): string =>
    `require("node:http").createServer((q, r) => ${reply}).listen(${port}, "127.0.0.1")`;
  await deploy("elsewhere", server("r.end()", "0"), {});
  await deploy("unwilling", server("r.writeHead(500).end()", "process.env.PORT"), {
    "com.service.ready.http.path": "/ready",
  });
  const lineOf = (name: string): Record<string, unknown> | undefined =>
    weir
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): Record<string, unknown> => JSON.parse(line))
      .find(({ functionName, msg }) => functionName === name && msg === "function is not ready");
  const elsewhere = await eventually(() => lineOf("elsewhere"), { what: "the line of the one that listens elsewhere" });
  const unwilling = await eventually(() => lineOf("unwilling"), { what: "the line of the one whose ready path fails" });
  expect(elsewhere).toMatchObject({
    reason: "NotListening",
    detail: expect.stringMatching(/listens on 127\.0\.0\.1:\d+, but not on port \d+ \(\$PORT\)$/),
  });
  expect(unwilling).toMatchObject({ reason: "NotReady", detail: expect.stringMatching(/GET \/ready .*answered 500/) });
});
