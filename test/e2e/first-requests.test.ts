import { expect, test } from "vitest";

import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import { eventually } from "../support/eventually.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";
import { asOf, walkedWeir } from "../support/walked-weir.ts";

/** What somebody reads who opens the gateway's address, and then makes common mistakes. */
const walked = walkedWeir("first-requests", { flags: ["--log-level", "info"] });

/** Output of `curl -s ${request}`; `$G` is the gateway and `$P` the password. */
async function printed(request: string): Promise<string> {
  const { shell, weir } = walked();
  const { stdout } = await shell.run(`G=${weir.url}; P='${weir.password}'\ncurl -s ${request}`);
  return stdout;
}

/** Body of a PUT of a function that echoes its input. */
const echo = (more: object = {}): string =>
  `'${JSON.stringify({ service: "echo", image: "echo:1", envProcess: "cat", ...more })}'`;
const deploy = (body: string): Promise<string> => printed(`-u admin:$P -X PUT $G/system/functions -d ${body}`);

test("the page at / has commands that deploy and call a first function", async () => {
  const { shell, weir } = walked();
  const html = await (await fetch(`${weir.url}/`)).text();
  expect(html).toContain(weir.url);
  const [, block = ""] = /<pre><code>(.*)<\/code><\/pre>/s.exec(html) ?? [];
  const commands = block
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  expect(commands.split("\n")).toHaveLength(3);
  expect(await shell.run(asOf(weir, commands))).toMatchObject({ code: 0, stdout: "HELLO, WEIR" });
  for (const link of ["/openapi.json", "/openapi.yaml"]) {
    expect(html).toContain(`href="${link}"`);
    expect((await fetch(`${weir.url}${link}`)).status).toBe(200);
  }
});

test("a page whose own name leads to this machine reads nothing", async () => {
  const { weir } = walked();
  const asked = await Promise.all(
    [`${weir.url}/`, `${weir.url}/function/echo`, `${weir.adminUrl}/metrics`].map(async (url) => {
      const { port, pathname } = new URL(url);
      const headers = ["Host", `evil.example:${port}`];
      return (await sendVerbatim(Number(port), { target: pathname, headers })).status;
    }),
  );
  expect(asked).toEqual([421, 421, 421]);
});

test("mistakes in a deployment are reported with what was probably meant", async () => {
  expect(await deploy(echo({ envvars: {} }))).toBe(
    'Cannot read field "envvars": there is no such field; did you mean "envVars"?\n',
  );
  expect(await deploy(echo({ labels: { "com.service.scale.mim": "2" } }))).toBe(
    'Cannot read label "com.service.scale.mim": there is no such label; did you mean "com.service.scale.min"?\n',
  );
  expect(await deploy(`'{"service":"echo" "image":"echo:1"}'`)).toBe(
    'Cannot read the body: it is not JSON at line 1, column 19: expected "," or "}", found "\\""\n',
  );
  expect(await deploy("'[]'")).toBe("Cannot read the body: expected an object\n");
});

test("the nearest name of a misspelt function is told to those who may list functions, and to the log", async () => {
  expect(await deploy(echo())).toBe("");
  expect(await printed("-u admin:$P $G/system/function/echoo")).toBe(
    'Cannot find function "echoo": it does not exist in namespace "functions"; did you mean "echo"?\n',
  );
  expect(await printed("$G/function/echoo -d hi")).toBe('Cannot call function "echoo": it does not exist\n');
  await eventually(() => /"functionName":"echoo".*"near":"echo"/.test(walked().weir.output()), {
    what: "the nearest name in the log",
  });
});

test("a GET of a queued call is told to use POST", async () => {
  expect(await printed("$G/async-function/echo")).toBe(
    'Cannot show call "echo": calls are POSTed; an id is a UUID, expected /async-function/{call-id}[/result]\n',
  );
});

test("lines of several replicas are returned in order of time", async () => {
  const talks = { service: "talks", image: "talks:1", envProcess: "sh -c 'echo called >&2'" };
  const body = JSON.stringify({ ...talks, labels: { "com.service.scale.min": "2" } });
  const { weir } = walked();
  const headers = { authorization: weir.authorization };
  expect((await fetch(`${weir.url}/system/functions`, { method: "PUT", headers, body })).status).toBe(202);
  const records = await eventually(
    async () => {
      await Promise.all(Array.from({ length: 4 }, () => fetch(`${weir.url}/function/talks`, { method: "POST" })));
      const text = await (await fetch(`${weir.url}/system/logs?name=talks`, { headers })).text();
      const lines = text.trim().split("\n").filter(Boolean);
      const found = lines.map((line): LogRecord => JSON.parse(line));
      return new Set(found.map(({ instance }) => instance)).size === 2 && found.length >= 8 ? found : undefined;
    },
    { what: "lines of two replicas" },
  );
  const times = records.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
});
