import { describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { openRawClient } from "../support/raw-client.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";
import { openRestPlatform } from "../support/rest-platform.ts";

const interim = "HTTP/1.1 100 Continue\r\n\r\n";
const head = (target: string, more = "Content-Length: 2\r\n", version = "1.1"): string =>
  `POST ${target} HTTP/${version}\r\nHost: g\r\nExpect: 100-continue\r\n${more}\r\n`;

describe("Expect: 100-continue", () => {
  const { open, serve, serveRaw, closing } = syncFixture();
  const clientOf = async (port: number) => closing(await openRawClient(port));

  test("the function is asked once a replica takes the body, not while the function is at zero", async () => {
    const fn = await serve((_request, response, body) => response.end(body));
    const gateway = await open();
    gateway.deploy("cold", { replicas: 0 });
    const client = await clientOf(gateway.port);
    client.send(head("/function/cold"));
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    expect(client.text).toBe("");
    gateway.setReplicas("cold", [fn.address]);
    await expect.poll(() => client.text).toBe(interim);
    client.send("hi");
    const [reply] = await client.replies(1);
    expect(reply).toMatchObject({ status: 200, body: "hi" });
    expect(reply?.headers["connection"]).toBe("keep-alive");
    expect(fn.requests[0]?.headers["expect"]).toBe("100-continue");
    client.send(head("/function/cold", "Transfer-Encoding: chunked\r\n"));
    await expect.poll(() => client.text.endsWith(interim)).toBe(true);
    client.send("5\r\nagain\r\n0\r\n\r\n");
    expect((await client.replies(2))[1]).toMatchObject({ status: 200, body: "again" });
  });

  test("a call that is refused gets its response instead, as the last one of its connection", async () => {
    const busy = await serve(() => {});
    const gateway = await open({
      wakeTimeout: 200,
      invoker: {
        authorise: () => {
          throw new PlatformError("credentials_required", "Cannot call: there are no credentials");
        },
      },
    });
    gateway.deploy("secret", { addresses: [busy.address], annotations: { "com.service.auth": "required" } });
    gateway.deploy("cold", { replicas: 0 });
    gateway.deploy("gone", { addresses: [await freeAddress()] });
    gateway.deploy("busy", { addresses: [busy.address], annotations: { "com.service.concurrency.max": "1" } });
    const first = await clientOf(gateway.port);
    first.send("GET /function/busy HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => busy.open).toBe(1);

    const after = "GET /function/busy/after HTTP/1.1\r\nHost: g\r\n\r\n";
    for (const [name, status] of [
      ["nobody", 404],
      ["secret", 401],
      ["busy", 429],
      ["gone", 502],
      ["cold", 503],
    ] as const) {
      const client = await clientOf(gateway.port);
      // The client may send the body now or not: what follows must be read neither as body nor as a request.
      client.send(head(`/function/${name}`) + after);
      await client.end();
      expect(client.text).not.toContain("100 Continue");
      const replies = await client.replies(1);
      expect(replies.map((reply) => [reply.status, reply.headers["connection"]])).toEqual([[status, "close"]]);
    }
    expect(busy.requests.map(({ target }) => target)).toEqual(["/"]);
  });

  test("without a body, and from HTTP/1.0, it is ignored", async () => {
    const fn = await serve((_request, response, body) => response.end(`got ${body}`));
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const empty = await clientOf(gateway.port);
    empty.send(head("/function/hello", "Content-Length: 0\r\n"));
    expect((await empty.replies(1))[0]).toMatchObject({ status: 200, body: "got " });
    const old = await clientOf(gateway.port);
    old.send(`${head("/function/hello", undefined, "1.0")}hi`);
    expect((await old.replies(1))[0]).toMatchObject({ status: 200, body: "got hi" });
    expect(empty.text + old.text).not.toContain("100 Continue");
  });

  test("a body that arrives without waiting is accepted", async () => {
    const fn = await serve((_request, response, body) => response.end(body));
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = await clientOf(gateway.port);
    client.send(`${head("/function/hello")}hi${head("/function/hello")}ho`);
    expect((await client.replies(2)).map(({ body }) => body)).toEqual(["hi", "ho"]);
  });

  test("a function's reply comes before the body; its silence is no reason to ask for it", async () => {
    const fn = await serveRaw((socket) => {
      setTimeout(() => socket.write("HTTP/1.1 413 Big\r\nContent-Length: 2\r\n\r\nno"), 300);
    });
    const gateway = await open({ server: { bodyIdleTimeout: 100 } });
    gateway.deploy("picky", { addresses: [fn.address] });
    const client = await clientOf(gateway.port);
    client.send(head("/function/picky"));
    await client.end();
    expect(client.text).toMatch(/^HTTP\/1\.1 413 .*Connection: close\r\n/s);
    expect(client.text.endsWith("\r\n\r\nno")).toBe(true);
  });

  test("interim responses pass with their headers, but for HTTP/1.0, and without those of the platform", async () => {
    const early =
      "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX-Call-Id: forged\r\nContent-Length: 3\r\n\r\n";
    const fn = await serveRaw(`${early}${interim}${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    const gateway = await open();
    gateway.deploy("early", { addresses: [fn.address] });
    const request = (version: string): string =>
      `GET /function/early HTTP/${version}\r\nHost: g\r\nConnection: close\r\n\r\n`;
    const [client, old] = [await clientOf(gateway.port), await clientOf(gateway.port)];
    client.send(request("1.1"));
    old.send(request("1.0"));
    await Promise.all([client.end(), old.end()]);
    // Nobody waits for the 100.
    expect(client.text.split("HTTP/1.1 200")[0]).toBe(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".repeat(2),
    );
    expect(old.text.startsWith("HTTP/1.1 200 OK\r\n")).toBe(true);
  });

  test("on /system, too, a refusal comes first", async () => {
    await using platform = await openRestPlatform();
    const put = (more: string): string => head("/system/functions", more).replace("POST", "PUT");
    const body = JSON.stringify({ service: "hello", image: "none" });
    for (const [status, more] of [
      [401, `Content-Length: ${body.length}\r\n`],
      [413, `Authorization: ${platform.authorization}\r\nContent-Length: 99999999\r\n`],
    ] as const) {
      const client = await clientOf(platform.port);
      client.send(put(more));
      await client.end();
      expect((await client.replies(1))[0]?.status).toBe(status);
      expect(client.text).not.toContain("100 Continue");
    }
    const client = await clientOf(platform.port);
    client.send(put(`Authorization: ${platform.authorization}\r\nContent-Length: ${body.length}\r\n`));
    await expect.poll(() => client.text).toBe(interim);
    client.send(body);
    const [reply] = await client.replies(1);
    expect([reply?.status, reply?.headers["connection"]]).toEqual([202, "keep-alive"]);
  });

  test("other expectations are 417", async () => {
    const gateway = await open();
    const client = await clientOf(gateway.port);
    client.send(
      "POST /function/hello HTTP/1.1\r\nHost: g\r\nExpect: 100-continue, more\r\nContent-Length: 2\r\n\r\nhi",
    );
    await client.end();
    expect((await client.replies(1)).map(({ status }) => status)).toEqual([417]);
  });
});
