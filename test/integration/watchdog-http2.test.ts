import { once } from "node:events";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";

import { afterEach, describe, expect, test } from "vitest";

import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { eventually } from "../support/eventually.ts";
import { call, endWatchdogsAfterEachTest, js, start, type Watchdog } from "../support/watchdog-process.ts";

describe("HTTP/2 through the watchdog", () => {
  endWatchdogsAfterEachTest();
  const sessions: ClientHttp2Session[] = [];
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
  });

  /** Echoes, with a trailer, and logs streams that are aborted; `/late` takes its time, `/never` does not reply. */
  const program = `const server = require("node:http2").createServer();
    server.on("stream", (stream, headers) => {
      const path = headers[":path"];
      stream.on("error", () => {}).on("aborted", () => console.log("left " + path));
      if (path === "/never") return console.log("begun");
      stream.respond({ "x-method": headers[":method"] }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
      if (path === "/late") setTimeout(() => stream.end("late"), 500);
      else stream.pipe(stream);
    });
    process.on("SIGTERM", () => process.exit(0));
    server.listen(process.env.PORT, "127.0.0.1");`;

  const startHttp2 = async (environment: Record<string, string> = {}): Promise<Watchdog> => {
    const watchdog = await start({ mode: "http", fprocess: js(program), ...environment });
    const prober = new HttpProber();
    const address = `127.0.0.1:${watchdog.port}`;
    await eventually(async () => (await prober.probe(address, undefined, 1_000, "h2c")).kind === "passed", {
      what: "readiness",
    });
    return watchdog;
  };
  const open = async (port: number): Promise<ClientHttp2Session> => {
    const session = connect(`http://127.0.0.1:${port}`);
    sessions.push(session);
    session.on("error", () => {});
    await once(session, "connect");
    return session;
  };
  const ask = (session: ClientHttp2Session, path: string): ClientHttp2Stream => {
    const stream = session.request({ ":method": "POST", ":path": path });
    stream.on("error", () => {});
    return stream;
  };

  test("streams pass both ways, with trailers, many on one connection", async () => {
    const { port } = await startHttp2();
    const session = await open(port);
    const stream = ask(session, "/");
    stream.write("one");
    expect(String(await once(stream, "data"))).toBe("one");
    const trailers = once(stream, "trailers");
    stream.end("x".repeat(3_000_000));
    expect((await text(stream)).length).toBe(3_000_000);
    expect((await trailers)[0]).toMatchObject({ "x-sum": "1" });

    const bodies = Array.from({ length: 80 }, (_none, index) => `body ${index}`);
    const replies = bodies.map((body) => text(ask(session, "/").end(body)));
    expect(await Promise.all(replies)).toEqual(bodies);
  });

  test("max_inflight and exec_timeout do not apply, and health is served beside it", async () => {
    const { port } = await startHttp2({ max_inflight: "1", exec_timeout: "100ms" });
    const session = await open(port);
    const both = [ask(session, "/late").end(), ask(session, "/late").end()];
    expect((await call(port, "/_/health")).status).toBe(200);
    expect((await call(port, "/_/ready")).status).toBe(200);
    expect(await Promise.all(both.map((stream) => text(stream)))).toEqual(["late", "late"]);
  });

  test("the reset of a stream and the end of a connection reach the process", async () => {
    const { port, output } = await startHttp2();
    const session = await open(port);
    const reset = ask(session, "/never");
    await eventually(() => output().includes("begun"), { what: "the request" });
    reset.destroy();
    await eventually(() => output().includes("left /never"), { what: "the process to notice" });
    const cut = ask(session, "/never?cut");
    cut.write("x");
    await text(ask(session, "/").end());
    session.destroy();
    await eventually(() => output().includes("left /never?cut"), { what: "the process to notice" });
  });

  test("a stop lets streams in flight end, and accepts no new connection", async () => {
    const { port, child, exited } = await startHttp2();
    const session = await open(port);
    const stream = ask(session, "/late");
    await once(stream, "response");
    child.kill("SIGTERM");
    expect(await text(stream.end())).toBe("late");
    await eventually(
      () =>
        open(port).then(
          (late) => late.destroy(),
          (err: Error) => err.message.includes("ECONNREFUSED"),
        ),
      // Sooner, they would be taken for callers that do not know of the stop yet.
      { what: "a closed port", every: 500 },
    );
    session.close();
    expect(await exited).toBe(0);
  });

  test("a process per request speaks only HTTP/1.1", async () => {
    const { port } = await start({ fprocess: "cat" });
    const socket = connectTcp(port, "127.0.0.1");
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    expect((await call(port, "/", { method: "POST", body: "still" })).body).toBe("still");
  });
});
