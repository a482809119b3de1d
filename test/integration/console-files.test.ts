import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ConsoleFiles } from "../../runtime/gateway/console-port/console-files.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { openTestConsole, TestBrowser, type TestConsole } from "../support/test-console.ts";

/** The files of the console on a real port, from a directory as the build leaves it. */
let dist: TempDirectory;
let empty: TempDirectory;
let opened: TestConsole;

const page = "<!doctype html><title>Weir</title>";
const script = "export const answer = 42;\n".repeat(100);
const year = "public, max-age=31536000, immutable";

beforeAll(async () => {
  [dist, empty] = await Promise.all([tempDirectory("dist"), tempDirectory("no-dist")]);
  const forms = { "app-1a2b3c4d.js": script, "app-1a2b3c4d.js.br": brotliCompressSync(script) } as const;
  const files = { ...forms, "app-1a2b3c4d.js.gz": gzipSync(script), "index.html": page, "hidden.txt": "hidden" };
  for (const [name, content] of Object.entries(files)) await writeFile(join(dist.path, name), content);
  const encodings = ["br", "gzip"].map((coding) => ({
    coding,
    file: `app-1a2b3c4d.js.${coding === "br" ? "br" : "gz"}`,
    size: 1,
  }));
  const list = [
    { path: "/ui/index.html", file: "index.html", type: "text/html; charset=utf-8", immutable: false, encodings: [] },
    {
      path: "/ui/app-1a2b3c4d.js",
      file: "app-1a2b3c4d.js",
      type: "text/javascript; charset=utf-8",
      immutable: true,
      encodings,
    },
  ].map((entry) => ({ ...entry, size: 1 }));
  await writeFile(join(dist.path, "files.json"), JSON.stringify(list));
  opened = await openTestConsole({ files: new ConsoleFiles(dist.path) });
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
  await Promise.all([dist?.remove(), empty?.remove()]);
});

const header = (reply: Response, name: string): string | null => reply.headers.get(name);

describe("every address of a page", () => {
  test.each(["/ui/", "/ui/f/dev/hello", "/ui/calls/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10", "/ui/calls?state=failed"])(
    "%s is the page, which is never stored",
    async (path) => {
      const reply = await opened.send("GET", path);
      expect([reply.status, await reply.text()]).toEqual([200, page]);
      expect(header(reply, "content-type")).toBe("text/html; charset=utf-8");
      expect(header(reply, "cache-control")).toBe("no-store");
    },
  );

  test("asks nothing of its sender, who may come from anywhere and be nobody", async () => {
    const cookies = `weir-session=${"x".repeat(43)}; weir-session=y`;
    for (const over of [
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
      { "sec-fetch-site": "none", cookie: cookies },
      { cookie: cookies },
      { authorization: "Basic eDp5" },
    ]) {
      const reply = await opened.send("GET", "/ui/queues", over);
      expect([reply.status, reply.headers.getSetCookie()]).toEqual([200, []]);
    }
  });

  test("is for this host only", async () => {
    const reply = await opened.send("GET", "/ui/", { host: `evil.example:${opened.port}` });
    expect([reply.status, JSON.parse(await reply.text()).code]).toEqual([421, "wrong_host"]);
  });
});

describe("a hashed file", () => {
  test.each([
    [undefined, null, script.length],
    ["gzip", "gzip", gzipSync(script).length],
    ["gzip, deflate, br, zstd", "br", brotliCompressSync(script).length],
    ["br;q=0", null, script.length],
  ])("is sent to Accept-Encoding %s as %s", async (accepted, coding, length) => {
    const over = accepted === undefined ? {} : { "accept-encoding": accepted };
    const reply = await opened.send("GET", "/ui/app-1a2b3c4d.js", over);
    expect([reply.status, header(reply, "content-encoding"), (await reply.arrayBuffer()).byteLength]).toEqual([
      200,
      coding,
      length,
    ]);
    expect(header(reply, "content-length")).toBe(String(length));
    expect(header(reply, "content-type")).toBe("text/javascript; charset=utf-8");
    expect(header(reply, "cache-control")).toBe(year);
    expect(header(reply, "vary")).toBe("Accept-Encoding");
  });

  test("has its head without its body", async () => {
    const get = await opened.send("GET", "/ui/app-1a2b3c4d.js", { "accept-encoding": "br" });
    const head = await opened.send("HEAD", "/ui/app-1a2b3c4d.js", { "accept-encoding": "br" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const name of ["etag", "content-length", "content-encoding", "content-type", "cache-control"]) {
      expect(header(head, name), name).toBe(header(get, name));
    }
  });

  test("is not sent again to who has it, in that coding", async () => {
    const path = "/ui/app-1a2b3c4d.js";
    const tag = header(await opened.send("GET", path, { "accept-encoding": "br" }), "etag") ?? "";
    for (const named of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const over = { "accept-encoding": "br", "if-none-match": named };
      for (const method of ["GET", "HEAD"]) {
        const reply = await opened.send(method, path, over);
        expect([reply.status, await reply.text(), header(reply, "etag")]).toEqual([304, "", tag]);
        expect(header(reply, "cache-control")).toBe(year);
      }
    }
    for (const over of [{ "if-none-match": tag }, { "accept-encoding": "br", "if-none-match": '"other"' }]) {
      expect((await opened.send("GET", path, over)).status).toBe(200);
    }
  });
});

test.each([
  "/ui/hidden.txt",
  "/ui/files.json",
  "/ui/app-1a2b3c4d.js.br",
  "/ui/../hidden.txt",
  "/ui/..%2fhidden.txt",
  "/ui/%2e%2e/hidden.txt",
  "/ui/./index.html",
  "/ui/%00",
  "/ui/.",
  "/ui/..",
  "/ui//etc/passwd.",
])("%s is not there", async (path) => {
  const reply = await opened.send("GET", path);
  expect([reply.status, JSON.parse(await reply.text()).code]).toEqual([404, "route_not_found"]);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s is 405", async (method) => {
  for (const path of ["/ui/", "/ui/app-1a2b3c4d.js"]) {
    const reply = await opened.send(method, path, { origin: opened.origin });
    expect([reply.status, header(reply, "allow")]).toEqual([405, "GET, HEAD"]);
  }
});

test("every reply has the headers that keep others out", async () => {
  for (const [method, path, over] of [
    ["GET", "/ui/", {}],
    ["GET", "/ui/app-1a2b3c4d.js", {}],
    ["GET", "/ui/app-1a2b3c4d.js", { "if-none-match": "*" }],
    ["GET", "/ui/no.js", {}],
    ["POST", "/ui/", {}],
    ["GET", "/ui/", { host: "evil.example" }],
    ["GET", "/function/hello", {}],
  ] as const) {
    const { headers } = await opened.send(method, path, over);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "permissions-policy": expect.stringMatching(/^clipboard-write=\(self\)(?:, [a-z-]+=\(\))+$/),
    });
    expect(headers.get("service-worker-allowed")).toBeNull();
  }
});

test("what was not built is 404, with the command that builds it; sessions work regardless", async () => {
  await using other = await openTestConsole({ files: new ConsoleFiles(empty.path) });
  for (const path of ["/ui/", "/ui/app-1a2b3c4d.js"]) {
    const reply = await other.send("GET", path);
    expect([reply.status, JSON.parse(await reply.text()).detail]).toEqual([
      404,
      expect.stringContaining("npm run console"),
    ]);
  }
  expect((await new TestBrowser(other).signIn()).status).toBe(204);
});
