import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { exampleNames, filled, readExample } from "../../../scripts/example/example.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandOptions } from "../../support/cli-home.ts";
import { examples } from "../../support/example-runs.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Statuses of the calls of each example; those with npm packages are prepared from a registry, which no test has. */
const statuses: Readonly<Record<string, readonly number[]>> = {
  bearer: [401, 200],
  "callback-receiver": [202, 200],
  checksum: [200],
  countdown: [200, 204],
  factors: [200],
  manifest: [200],
  "nightly-totals": [202, 200],
  "sales-report": [202, 200],
  "signed-webhook": [401, 202, 200, 200],
};
const token = "known-to-callers";

let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;

const run = (args: readonly string[], options: CommandOptions = {}) =>
  person.run(args, { ...options, environment: gatewayEnvironment(weir) });

beforeAll(async () => {
  data = await tempDirectory("cli-examples");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
  for (const name of Object.keys(statuses)) {
    const { directory, secrets = [] } = filled(await readExample(examples, name), { token });
    for (const secret of secrets)
      expect(await run(["secrets", "create", secret.name], { input: secret.value })).toMatchObject({ code: 0 });
    const end = await run(["up"], { directory });
    expect([name, end.code], end.stderr).toEqual([name, 0]);
  }
}, 300_000);
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

test("every example without npm packages is deployed", async () => {
  const all = await Promise.all((await exampleNames(examples)).map((name) => readExample(examples, name)));
  const plain = all.filter(({ packages }) => packages.length === 0).map(({ name }) => name);
  expect(Object.keys(statuses).toSorted()).toEqual(plain);
});

test.each(Object.entries(statuses))("%s, deployed by weir up, replies as it should", async (name, expected) => {
  const { calls, directory } = filled(await readExample(examples, name), { token, gateway: weir.url });
  const seen: number[] = [];
  let callId = "";
  for (const call of calls) {
    const { method, path, headers = {}, body, bodyFile } = filled(call, { callId });
    const content = bodyFile === undefined ? body : await readFile(join(directory, bodyFile), "utf8");
    const response = await fetch(weir.url + path, { method, headers, body: content ?? null });
    callId = response.headers.get("X-Call-Id") ?? callId;
    seen.push(response.status);
    await response.text();
  }
  expect(seen).toEqual(expected);
});
