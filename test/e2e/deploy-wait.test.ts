import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/function-status.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What a person reads who deploys and waits. */
let data: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("deploy-wait");
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await data.remove();
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

test("a deployment that is waited for is ready at the answer; one that fails says why everywhere, and the old one serves", async () => {
  const good = await put(serving);
  expect([good.status, await good.text()]).toEqual([202, ""]);
  const call = async () => (await fetch(`${weir.url}/function/waited`)).text();
  expect(await call()).toBe("good");

  const bad = await put(failing);
  const said = await bad.text();
  expect(bad.status, said).toBe(409);
  const pattern =
    /^Cannot get function "waited" ready: (?<why>.+) \(calls are still served by the deployment before\)\n/;
  const why = pattern.exec(said)?.groups?.["why"] ?? "";
  expect(why, said).toMatch(/ended/);
  expect(await call()).toBe("good");

  const headers = { authorization: weir.authorization };
  const list = (await (await fetch(`${weir.url}/system/functions`, { headers })).json()) as FunctionStatus[];
  const conditions = list.find(({ name }) => name === "waited")?.conditions ?? [];
  expect(conditions).toContainEqual(expect.objectContaining({ type: "Stalled", status: "True" }));
  expect(conditions.find(({ type }) => type === "Ready")).toMatchObject({
    status: "True",
    message: expect.stringMatching(/^1 of 1 replicas is ready, of the deployment before: .*ended/),
  });
  expect(weir.output()).toContain("function is stalled");
  expect(weir.output()).toContain(JSON.stringify(why).slice(1, -1));
});
