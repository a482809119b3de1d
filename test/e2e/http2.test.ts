import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { constants, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import { join } from "node:path";
import { Readable } from "node:stream";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import { eventually } from "../support/eventually.ts";
import { openHttp2Client, type Http2Client } from "../support/http2-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const mebibyte = 1_048_576;
/** Headers of HTTP/1.1 that HTTP/2 does not use, or forbids. */
const hopByHop = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "trailer"];

/** Reports its headers, echoes, waits, and logs which requests ended and which clients left. */
const program = `
  const http = require("node:http");
  http.createServer((request, response) => {
    const [, what, argument] = request.url.split(/[/?]/);
    response.on("close", () => console.log((response.writableFinished ? "answered " : "left ") + request.url));
    if (what === "headers") {
      response.writeHead(200, ["Connection", "keep-alive, X-Named", "X-Named", "1", "Keep-Alive", "timeout=9", "X-Kept", "1"]);
      response.end(JSON.stringify(request.rawHeaders));
    } else if (what === "wait") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write("data: begun\\n\\n");
      if (Number(argument) > 0) setTimeout(() => response.end("data: over\\n\\n"), Number(argument));
    } else request.pipe(response);
  }).listen(process.env.PORT, "127.0.0.1");`;

/** The whole API over HTTP/2, on a Weir started with a certificate. */
describe("over HTTP/2 on the gateway's own port", () => {
  let directory: TempDirectory;
  let weir: WeirProcess;
  let cert: Buffer;
  let client: Http2Client;

  beforeAll(async () => {
    directory = await tempDirectory("http2");
    const tls = await selfSigned();
    ({ cert } = tls);
    const [certFile, keyFile] = [join(directory.path, "cert.pem"), join(directory.path, "key.pem")];
    await writeFile(certFile, tls.cert);
    await writeFile(keyFile, tls.key, { mode: 0o600 });
    weir = await startWeir({
      data: join(directory.path, "data"),
      flags: ["--tls-cert", certFile, "--tls-key", keyFile, "--log-heartbeat-period", "1s"],
      within: 60_000,
    });
    client = await openHttp2Client(Number(new URL(weir.url).port), cert);
  });
  afterAll(async () => {
    client?.close();
    await weir?.close();
    await directory?.remove();
  });

  const system = (method: string, path: string, body?: unknown, headers: OutgoingHttpHeaders = {}) =>
    client.ask(
      { ":method": method, ":path": `/system/${path}`, authorization: weir.authorization, ...headers },
      body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    );
  const status = async (): Promise<FunctionStatus> => JSON.parse((await system("GET", "function/mirror")).body);
  const lines = async (): Promise<string[]> => {
    const { body } = await system("GET", "logs?name=mirror");
    return body
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as LogRecord).text.trim());
  };
  const logged = (line: string) =>
    eventually(async () => (await lines()).includes(line), { what: `"${line}" in the log` });
  const request = (path: string, head: OutgoingHttpHeaders = {}): ClientHttp2Stream => {
    const stream = client.session.request({ ":path": path, ...head });
    stream.on("error", () => {});
    return stream;
  };

  test("a function is deployed, listed, shown and scaled", async () => {
    const deployment = {
      service: "mirror",
      image: "none",
      envProcess: `node -e '${program}'`,
      envVars: { mode: "http" },
    };
    const deployed = await system("PUT", "functions", deployment, { "content-type": "application/json" });
    expect(deployed).toMatchObject({ status: 202, body: "" });
    expect(deployed.headers).toMatchObject({ "x-api-version": "1.0", "x-content-type-options": "nosniff" });
    await eventually(async () => (await status()).availableReplicas === 1, { what: "its replica" });

    const listed = await system("GET", "functions");
    expect(JSON.parse(listed.body)).toMatchObject([{ name: "mirror", replicas: 1 }]);
    expect(listed.headers["content-type"]).toMatch(/^application\/json/);
    expect((await system("POST", "scale-function/mirror", { replicas: 2 })).status).toBe(202);
    await eventually(async () => (await status()).availableReplicas === 2, { what: "two replicas" });
    expect((await system("POST", "scale-function/mirror", { replicas: 1 })).status).toBe(202);
    await eventually(async () => (await status()).availableReplicas === 1, { what: "one replica" });
    const head = await system("HEAD", "functions");
    expect(head).toMatchObject({ status: 200, body: "" });
  });

  test("errors are reported as over HTTP/1.1, and the connection stays open", async () => {
    const refused = await client.ask({ ":path": "/system/functions", accept: "application/json" });
    expect(refused).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Basic realm="Restricted", Bearer realm="weir"' },
    });
    expect(await system("GET", "function/nobody")).toMatchObject({ status: 404 });
    expect(await client.ask({ ":path": "/nope" })).toMatchObject({ status: 404 });
    const wrongMethod = await system("PATCH", "functions");
    expect(wrongMethod).toMatchObject({ status: 405, headers: { allow: expect.stringContaining("PUT") } });
    expect(await system("POST", "functions", "{")).toMatchObject({ status: 400 });
    expect(await system("PUT", "functions", `"${"x".repeat(2 * mebibyte)}"`)).toMatchObject({ status: 413 });
    const form = { "content-type": "multipart/form-data; boundary=x" };
    expect(await system("PUT", "functions", "--x--", form)).toMatchObject({ status: 415 });
    const foreign = { origin: "https://elsewhere.example" };
    expect(await system("GET", "functions", undefined, foreign)).toMatchObject({ status: 403 });
    expect((await system("GET", "functions")).status).toBe(200);
  });

  test("hop-by-hop headers are removed in both directions, but for a wish for trailers", async () => {
    const response = await client.ask({ ":path": "/function/mirror/headers", te: "trailers", "x-mine": "1" });
    expect(response).toMatchObject({ status: 200, headers: { "x-kept": "1" } });
    for (const name of [...hopByHop, "x-named"]) expect(response.headers[name], name).toBeUndefined();
    const seen = (JSON.parse(response.body) as string[]).map((text) => text.toLowerCase());
    expect(seen).toEqual(expect.arrayContaining(["x-mine", "x-forwarded-proto", "https"]));
    expect(seen.filter((text) => text === "te" || text === "trailers")).toEqual(["te", "trailers"]);
    for (const name of ["trailer", "transfer-encoding", "upgrade", ":path"]) expect(seen).not.toContain(name);
  });

  test("a call is queued and waited for, and its result is read", async () => {
    const accepted = await client.ask({ ":method": "POST", ":path": "/async-function/mirror" }, "hello");
    expect(accepted).toMatchObject({ status: 202, body: "" });
    const id = String(accepted.headers["x-call-id"]);
    const waited = await client.ask({ ":path": `/async-function/${id}?wait=30s` });
    const record = JSON.parse(waited.body) as CallRecord;
    expect(record).toMatchObject({ state: "done", attempts: [{ status: 200 }] });
    const result = await client.ask({ ":path": `/async-function/${id}/result` });
    expect(result).toMatchObject({ status: 200, body: "hello", headers: { "x-function-status": "200" } });
    const late = await client.ask({ ":method": "DELETE", ":path": `/async-function/${id}` });
    expect(late.status).toBe(409);
  });

  test("logs are followed until the client leaves, in parallel with other requests", async () => {
    const stream = request("/system/logs?name=mirror&follow=true", { authorization: weir.authorization });
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const [head] = await once(stream, "response");
    expect(head).toMatchObject({ ":status": 200, "content-type": "application/x-ndjson" });
    await client.ask({ ":method": "POST", ":path": "/function/mirror/followed" }, "x");
    await eventually(() => text.includes("answered /followed"), { what: "the line of that call" });
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await system("GET", "info")).status).toBe(200);
  });

  test("events arrive at once; a stream that its client cancels ends the function's request", async () => {
    const stream = request("/function/mirror/wait");
    expect(String(await once(stream, "data"))).toBe("data: begun\n\n");
    expect(await lines()).not.toContain("left /wait");
    stream.close(constants.NGHTTP2_CANCEL);
    await logged("left /wait");
  });

  test("a connection that breaks ends the requests of all its streams", async () => {
    const other = await openHttp2Client(Number(new URL(weir.url).port), cert);
    const streams = ["a", "b", "c"].map((name) => other.session.request({ ":path": `/function/mirror/wait?${name}` }));
    for (const stream of streams) stream.on("error", () => {});
    await Promise.all(streams.map((stream) => once(stream, "data")));
    other.close();
    for (const name of ["a", "b", "c"]) await logged(`left /wait?${name}`);
  });

  test("many concurrent calls share a connection", async () => {
    const bodies = Array.from({ length: 500 }, (_none, index) => `${index} ${"x".repeat(index * 10)}`);
    const responses = await Promise.all(
      bodies.map((body) => client.ask({ ":method": "POST", ":path": "/function/mirror/many" }, body)),
    );
    expect(responses.map(({ body }) => body)).toEqual(bodies);
  });

  test("a large body passes in both directions, with back-pressure", async () => {
    const memory = (): number =>
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${weir.pid}/status`, "utf8"))?.[1]) * 1_024;
    const size = 128;
    const sent = createHash("sha1");
    let produced = 0;
    const chunks = function* () {
      for (; produced < size; produced += 1) {
        const chunk = Buffer.alloc(mebibyte, `weir ${produced}`);
        sent.update(chunk);
        yield chunk;
      }
    };
    const before = memory();
    const stream = request("/function/mirror/large", { ":method": "POST" });
    Readable.from(chunks()).pipe(stream);
    await once(stream, "response");
    let last = -1;
    await eventually(() => last === (last = produced), { every: 300, what: "the client to be stuck" });
    expect(produced).toBeLessThan(64);
    expect(memory() - before).toBeLessThan(64 * mebibyte);

    // Other calls on the same connection are not blocked by it.
    expect((await client.ask({ ":path": "/function/mirror/headers" })).status).toBe(200);
    const echoed = createHash("sha1");
    let received = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      echoed.update(chunk);
      received += chunk.length;
    }
    expect(received).toBe(size * mebibyte);
    expect(echoed.digest("hex")).toBe(sent.digest("hex"));
    expect(memory() - before).toBeLessThan(160 * mebibyte);
  });

  test("a stop sends GOAWAY, completes calls in flight, and leaves nothing", async () => {
    const stream = request("/function/mirror/wait/1500");
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await once(stream, "response");
    const goaway = once(client.session, "goaway");
    const stopped = weir.stop();
    expect((await goaway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    await once(stream, "close");
    expect(text).toBe("data: begun\n\ndata: over\n\n");
    await stopped;
    await eventually(() => client.session.destroyed, { what: "the end of the connection" });
  });
});
