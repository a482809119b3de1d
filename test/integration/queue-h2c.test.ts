import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openH2cFunction, type H2cFunction } from "../support/h2c-function.ts";
import { rawRequest } from "../support/raw-client.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

const h2c = { "com.service.protocol": "h2c" };

describe.each(["straight at the replica", "through the gateway"])(
  "a queued call to a function of HTTP/2, %s",
  (way) => {
    let platform: Platform;
    let echo: H2cFunction;
    let sink: CallbackSink;

    beforeAll(async () => {
      const port = await freePort();
      const through = ["--gateway-invoke", `--gateway-url=http://127.0.0.1:${port}`];
      platform = await openPlatform({
        slots: 4,
        gatewayFlags: [`--port=${port}`],
        workerFlags: way === "through the gateway" ? through : [],
      });
      sink = await openCallbackSink();
      echo = await openH2cFunction((stream, body, { headers }) => {
        if (headers[":path"] === "/never") return;
        const again = headers[":path"] === "/again" && headers["x-call-attempt"] === "1";
        stream.respond({ ":status": again ? 503 : 200, "content-type": "text/x-echo" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
        stream.end(`echo ${body}`);
      });
      await platform.deploy("echo", { addresses: [echo.address], annotations: h2c });
    });

    afterAll(async () => {
      await platform?.close();
      await sink?.close();
      await echo?.close();
    });

    const runsOf = (id: string) => echo.requests.filter(({ headers }) => headers["x-call-id"] === id);

    test("runs once; output, callback and record are those of any call", async () => {
      const id = await platform.calls.accepted("echo", {
        tail: "/a%2Fb?x=1",
        body: "hello",
        headers: { "content-type": "text/x-question", "x-custom": "1" },
        callbackUrl: sink.url,
      });
      const record = await platform.calls.ended(id);
      expect(record).toMatchObject({ state: "done", retries: 0, attempts: [{ number: 1, status: 200 }] });
      const result = await platform.calls.result(id);
      expect(result.body.toString()).toBe("echo hello");
      expect(result.headers.get("content-type")).toBe("text/x-echo");
      expect(await sink.waitFor(id)).toMatchObject({ headers: { "x-function-status": "200" } });
      const [run, ...more] = runsOf(id);
      expect(more).toEqual([]);
      expect(run).toMatchObject({
        body: "hello",
        headers: {
          ":method": "POST",
          ":path": "/a%2Fb?x=1",
          ":authority": echo.address,
          "content-length": "5",
          "content-type": "text/x-question",
          "x-custom": "1",
          "x-call-attempt": "1",
        },
      });
      for (const name of ["weir-invoke", "weir-timeout", "host"]) expect(run?.headers[name]).toBeUndefined();
    });

    test("repeated headers arrive, and none that concerns a connection", async () => {
      const lines = [
        "Host: g",
        "Content-Length: 0",
        "Referer: a",
        "Referer: b",
        "X-Word: na\u00efve",
        "HTTP2-Settings: AA",
      ];
      const reply = await rawRequest(
        platform.port,
        `POST /async-function/echo HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`,
      );
      expect(reply.status).toBe(202);
      const id = reply.headers["x-call-id"] ?? "";
      expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
      const list = runsOf(id)[0]?.rawHeaders ?? [];
      expect(list.filter((_value, index) => list[index - 1] === "referer")).toEqual(["a", "b"]);
      expect(list).toContain("na\u00efve");
      expect(list).not.toContain("http2-settings");
    });

    test("with a large body and a large output", async () => {
      const body = "x".repeat(1_048_000);
      const id = await platform.calls.accepted("echo", { body });
      expect(await platform.calls.ended(id)).toMatchObject({ state: "done", result: { size: body.length + 5 } });
      expect((await platform.calls.result(id)).body.toString()).toBe(`echo ${body}`);
    });

    test("without a body", async () => {
      const id = await platform.calls.accepted("echo");
      expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
      expect(runsOf(id)).toMatchObject([{ body: "", headers: { "content-length": "0" } }]);
    });

    test("is retried when its status allows it", async () => {
      const id = await platform.calls.accepted("echo", { tail: "/again" });
      expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 1 });
      expect(runsOf(id)).toHaveLength(2);
    });

    test("continues over a new connection when the old one is gone", async () => {
      await platform.calls.ended(await platform.calls.accepted("echo"));
      echo.cut();
      const ids = await Promise.all([1, 2, 3].map((body) => platform.calls.accepted("echo", { body: String(body) })));
      for (const id of ids) expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
    });

    test("is aborted when it is cancelled", async () => {
      const id = await platform.calls.accepted("echo", { tail: "/never" });
      await eventually(() => runsOf(id).length === 1, { what: "the run" });
      const before = echo.broken;
      await platform.calls.cancel(id);
      await eventually(() => echo.broken === before + 1, { what: "the function to notice" });
      expect(await platform.calls.ended(id)).toMatchObject({ state: "cancelled" });
    });

    test("a function that does not speak HTTP/2 is an attempt without a response", async () => {
      const refusing = await freePort();
      await platform.deploy("nobody", {
        addresses: [`127.0.0.1:${refusing}`],
        annotations: { ...h2c, "com.service.retry.attempts": "0" },
      });
      const id = await platform.calls.accepted("nobody");
      expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", attempts: [{ status: 502 }] });
    });
  },
);
