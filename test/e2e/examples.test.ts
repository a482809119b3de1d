import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { exampleNames, readExample } from "../../scripts/example/example.ts";
import { withExampleFunction as withFunction } from "../support/example-function.ts";
import { examples, runExample, shownBy, showExample } from "../support/example-runs.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { freePort } from "../support/free-port.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

describe("the runner", () => {
  test("lists every example with its sentence", async () => {
    const { code, stdout } = await runExample();
    expect(code).toBe(0);
    for (const name of await exampleNames(examples)) {
      expect(stdout).toContain(`  ${name} `);
      expect(stdout).toContain((await readExample(examples, name)).about);
      for (const file of ["README.md", "Dockerfile"]) expect(existsSync(join(examples, name, file))).toBe(true);
      expect(shownBy[name], `what example "${name}" shows`).toBeDefined();
    }
  });

  test("reports in one sentence what is missing", async () => {
    await using directory = await tempDirectory("examples");
    const gateway = `http://127.0.0.1:${await freePort()}`;
    expect(await runExample("nope")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot find example "nope": there are bearer, /),
    });

    const noData = await runExample("checksum", "--gateway", gateway, "--data", directory.path);
    expect(noData).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot read ".*basic-auth-user": say with --data .*\n$/),
    });

    await mkdir(join(directory.path, "credentials"));
    for (const name of ["basic-auth-user", "basic-auth-password"])
      await writeFile(join(directory.path, "credentials", name), "x");
    const noWeir = await runExample("checksum", "--gateway", gateway, "--data", directory.path);
    expect(noWeir).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot reach Weir at http:.* "npm start".*\n$/),
    });
    expect(await runExample("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--docker-socket") });
  });
});

describe("the functions by themselves", () => {
  const post = async (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: "POST", body, headers: { ...headers, Connection: "close" } });
  const read = async (response: Response) => ({ status: response.status, body: await response.text() });

  test("markdown renders, tables included, and accepts only POST", async () => {
    await withFunction("markdown", {}, async (url) => {
      const html = await (await post(url, readFileSync(join(examples, "markdown/release-notes.md"), "utf8"))).text();
      expect(html).toContain("<h1>Release notes</h1>");
      expect(html).toContain("<td>202</td>");
      const refused = await fetch(url);
      expect(refused.headers.get("Allow")).toBe("POST");
      expect(await read(refused)).toEqual({ status: 405, body: "POST some Markdown\n" });
    });
  });

  test("bearer admits callers that know the current secret", async () => {
    await using secrets = await tempDirectory("bearer");
    await withFunction("bearer", { SERVICE_SECRETS_DIR: secrets.path }, async (url) => {
      const ask = async (authorization: string) => read(await fetch(url, { headers: { authorization } }));
      const welcome = { status: 200, body: "Welcome.\n" };
      const refused = { status: 401, body: "Send the right bearer token.\n" };
      expect(await ask("Bearer one")).toEqual({ status: 500, body: "The secret cannot be read.\n" });
      await writeFile(join(secrets.path, "bearer-token"), "one\n");
      expect(await ask("Bearer one")).toEqual(welcome);
      expect(await ask("Bearer two")).toEqual(refused);
      expect(await ask("")).toEqual(refused);
      await writeFile(join(secrets.path, "bearer-token"), "two");
      expect(await ask("Bearer one")).toEqual(refused);
      expect(await ask("Bearer two")).toEqual(welcome);
    });
  });

  test("callback-receiver keeps each callback once and waits for a requested one", async () => {
    await withFunction("callback-receiver", {}, async (url) => {
      const waiting = fetch(`${url}/a`);
      const headers = {
        "X-Call-Id": "a",
        "X-Function-Name": "f",
        "X-Function-Status": "200",
        "X-Duration-Seconds": "0.5",
        "X-Retry": "1",
      };
      expect((await post(url, "out", headers)).status).toBe(204);
      expect((await post(url, "again", headers)).status).toBe(204);
      const expected = { callId: "a", functionName: "f", status: 200, durationSeconds: 0.5, retries: 1, body: "out" };
      expect(await (await waiting).json()).toEqual(expected);
      expect(await (await fetch(url)).json()).toEqual([expected]);
    });
  });

  test("factors sends each event once it is known, and refuses anything but numbers", async () => {
    await withFunction("factors", {}, async (url) => {
      const response = await post(url, "6\n9007199254740881\n");
      expect(response.headers.get("Content-Type")).toBe("text/event-stream");
      const events = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      expect((await events?.read())?.value).toBe('id: 1\ndata: {"number":6,"factors":[2,3]}\n\n');
      expect((await events?.read())?.value).toBe(
        'id: 2\ndata: {"number":9007199254740881,"factors":[9007199254740881]}\n\n',
      );
      expect(await events?.read()).toEqual({ done: true, value: undefined });
      const refused = { status: 400, body: "POST whole numbers from 2 to 9007199254740991, one a line\n" };
      for (const wrong of ["", "1", "two", "1e99", "0.5"]) expect(await read(await post(url, wrong))).toEqual(refused);
    });
  });

  test("factors gives up when the client leaves", async () => {
    await withFunction("factors", {}, async (url) => {
      const leave = new AbortController();
      const response = await fetch(url, {
        method: "POST",
        body: "9007199254740881\n".repeat(1_000),
        signal: leave.signal,
      });
      expect(response.status).toBe(200);
      leave.abort();
    });
  });

  test("manifest calls checksum at GATEWAY_URL, and reports its failure", async () => {
    let status = 200;
    const gateway = await openFunctionServer((_request, response, body) => {
      response.writeHead(status).end(`${body.toUpperCase()}  -\n`);
    });
    const variables = { GATEWAY_URL: `http://${gateway.address}`, SERVICE_NAMESPACE: "team" };
    try {
      await withFunction("manifest", variables, async (url) => {
        const response = await post(url, '{"b":"two","a":"one"}');
        expect(await read(response)).toEqual({ status: 200, body: "TWO  b\nONE  a\n" });
        expect(gateway.requests.map(({ target }) => target)).toEqual(Array(2).fill("/function/checksum.team"));
        const refused = { status: 400, body: 'POST {"<name>": "<content>", …}\n' };
        for (const wrong of ["", "[]", '{"a":1}', "null"])
          expect(await read(await post(url, wrong)), wrong).toEqual(refused);
        status = 503;
        expect(await read(await post(url, '{"a":"one"}'))).toEqual({
          status: 502,
          body: "The checksums cannot be had.\n",
        });
      });
    } finally {
      await gateway.close();
    }
  });
});

describe("npm run example on a Weir that runs", () => {
  const opened: { directory?: TempDirectory; weir?: WeirProcess } = {};

  beforeAll(async () => {
    opened.directory = await tempDirectory("examples");
    opened.weir = await startWeir({ data: opened.directory.path, within: 60_000 });
  });

  afterAll(async () => {
    try {
      await opened.weir?.stop();
    } finally {
      await opened.directory?.remove();
    }
  });

  const running = (): WeirProcess => {
    if (opened.weir === undefined) throw new Error("Cannot run examples: Weir did not start");
    return opened.weir;
  };

  test.each(Object.keys(shownBy))("%s", async (name) => {
    await showExample(running(), name);
  });

  test("a second run of bearer replaces its secret", async () => {
    const { code, stdout } = await runExample("bearer", "--gateway", running().url, "--data", running().data);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/-X PUT \S+\/system\/secrets /);
    expect(stdout).toContain("Welcome.");
  });
});
