import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

import { describe, expect, test } from "vitest";

import { openDispatcher, type TlsFiles } from "../../../../runtime/cli/client/dispatcher.ts";
import { GatewayClient, type GatewayClientOptions } from "../../../../runtime/cli/client/gateway-client.ts";
import { freePort } from "../../../support/free-port.ts";
import { selfSigned } from "../../../support/self-signed.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A server on this machine, closed with its connections at the end of a block. */
async function listening(server: Server) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A gateway that does this with each request, and what it got. */
async function gateway(reply: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: IncomingMessage[] = [];
  const server = await listening(
    createHttpServer((request, response) => {
      seen.push(request);
      reply(request, response);
    }),
  );
  return { ...server, seen, address: `http://127.0.0.1:${server.port}` };
}

const json = (value: unknown) => (_: IncomingMessage, response: ServerResponse) => {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
};

async function client(address: string, options: Partial<GatewayClientOptions> & { readonly tls?: TlsFiles } = {}) {
  const { tls = {}, timeout = 10_000, ...others } = options;
  const dispatcher = await openDispatcher(address, tls, timeout);
  const opened = new GatewayClient({
    address,
    credentials: undefined,
    dispatcher,
    timeout,
    signal: new AbortController().signal,
    debug: undefined,
    ...others,
  });
  return {
    json: (path = "/system/info", request = {}) => opened.json<unknown>("GET", path, request),
    accepted: opened.accepted.bind(opened),
    opened,
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

describe("a request", () => {
  test("has the path and query byte for byte, the credentials, and says who sends it", async () => {
    await using weir = await gateway(json({ a: 1 }));
    const credentials = { kind: "basic", user: "me", password: "p" } as const;
    await using to = await client(`${weir.address}/team`, { credentials });
    const query = { namespace: "a b", limit: 5, missing: undefined };
    expect(await to.json("/a/../%2e/b", { query, headers: { "x-twice": ["1", "2"] } })).toEqual({ a: 1 });
    expect(await to.json("/c?d=e", { query: { f: true }, authorized: false })).toEqual({ a: 1 });
    expect(weir.seen.map(({ url }) => url)).toEqual(["/team/a/../%2e/b?namespace=a+b&limit=5", "/team/c?d=e&f=true"]);
    const [first, second] = weir.seen;
    expect(first?.headers.authorization).toBe(`Basic ${Buffer.from("me:p").toString("base64")}`);
    expect(first?.headers["user-agent"]).toMatch(/^weir-cli\/\d/);
    expect(first?.headersDistinct["x-twice"]).toEqual(["1", "2"]);
    expect(second?.headers.authorization).toBeUndefined();
  });

  test.each([
    [{ kind: "basic", user: "me", password: "p" }, "me"],
    [{ kind: "bearer", token: "t" }, "token"],
    [undefined, undefined],
  ] as const)("of %j is of user %s", async (credentials, user) => {
    await using to = await client("http://127.0.0.1:1", { credentials });
    expect(to.opened.user).toBe(user);
    expect(to.opened.hasCredentials).toBe(credentials !== undefined);
  });

  test("shows itself with --debug, but no secret", async () => {
    await using weir = await gateway((_, response) => {
      response.setHeader("set-cookie", "c4nary").end("{}");
    });
    let lines = "";
    const credentials = { kind: "bearer", token: "c4nary" } as const;
    await using to = await client(weir.address, { credentials, debug: (text) => (lines += text) });
    await to.json();
    expect(lines).toContain(`> GET ${weir.address}/system/info\n`);
    expect(lines).toContain("\n  authorization: …\n");
    expect(lines).toContain("< 200\n");
    expect(lines).not.toContain("c4nary");
  });
});

describe("a reply", () => {
  test("that is empty is no value", async () => {
    await using weir = await gateway((_, response) => response.writeHead(202).end());
    await using to = await client(weir.address);
    expect(await to.json()).toBeUndefined();
  });

  test.each([
    ["text/html", "<html>", "it is text/html, not JSON; is it a Weir gateway?"],
    ["application/json", '{"a":', "it is application/json, not JSON; is it a Weir gateway?"],
  ])("of %s %j is no JSON: exit code 1", async (type, body, reason) => {
    await using weir = await gateway((_, response) => response.setHeader("content-type", type).end(body));
    await using to = await client(weir.address);
    await expect(to.json()).rejects.toMatchObject({
      exit: 1,
      message: `Cannot read the reply of ${weir.address}: ${reason}`,
    });
  });

  test("over the limit is not read to its end: exit code 1", async () => {
    let sent = 0;
    await using weir = await gateway((_, response) => {
      const write = (): void => {
        while (!response.destroyed && sent < 1_000 && response.write(Buffer.alloc(1_048_576, "["))) sent++;
        if (sent === 1_000) response.end();
      };
      response.on("drain", write);
      write();
    });
    await using to = await client(weir.address);
    await expect(to.json()).rejects.toMatchObject({
      exit: 1,
      message: expect.stringMatching(/^Cannot read the reply: it is over \d+ bytes$/) as string,
    });
    expect(sent).toBeLessThan(200);
  });

  test("with a redirect is not followed, so no credentials reach where it leads", async () => {
    await using other = await gateway(json({ stolen: true }));
    await using weir = await gateway((_, response) => response.writeHead(307, { location: other.address }).end());
    await using to = await client(weir.address, { credentials: { kind: "bearer", token: "t" } });
    await expect(to.json()).rejects.toMatchObject({
      exit: 1,
      message: expect.stringMatching(/no redirect is followed$/) as string,
    });
    expect(other.seen).toEqual([]);
  });

  test.each([
    ["breaks off", (socket: Socket) => socket.resetAndDestroy(), 5, /closed before its end$/],
    ["stops", () => {}, 6, /its rest does not come$/],
  ] as const)("that %s in the middle has its exit code", async (_, end, exit, message) => {
    const server = createServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", () => end(socket));
      });
    });
    await using weir = await listening(server);
    await using to = await client(`http://127.0.0.1:${weir.port}`, { timeout: 500 });
    await expect(to.json()).rejects.toMatchObject({ exit, message: expect.stringMatching(message) as string });
  });
});

describe("no reply", () => {
  test.each([
    ["closes", (socket: Socket) => socket.end(), 5, "the connection was closed before a reply"],
    ["resets", (socket: Socket) => socket.resetAndDestroy(), 5, "the connection was closed before a reply"],
    [
      "speaks something else",
      (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
      5,
      "it does not speak HTTP; is it https:// instead of http://?",
    ],
    ["is silent", () => {}, 6, "no reply within 500ms; the request may still be carried out"],
  ] as const)("of one that %s has its exit code", async (_, act, exit, reason) => {
    await using server = await listening(createServer((socket) => void socket.once("data", () => act(socket))));
    const address = `http://127.0.0.1:${server.port}`;
    await using to = await client(address, { timeout: 500 });
    await expect(to.json()).rejects.toMatchObject({ exit, message: `Cannot reach Weir at ${address}: ${reason}` });
  });

  test("where nothing listens is exit code 5 with a hint", async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    await using to = await client(address);
    await expect(to.json()).rejects.toMatchObject({
      exit: 5,
      message: `Cannot reach Weir at ${address}: nothing listens there`,
      hint: "weir dev",
    });
  });

  test("of a name that has no address is exit code 5", async () => {
    await using to = await client("https://no-such-host.invalid");
    await expect(to.json()).rejects.toMatchObject({
      exit: 5,
      message: expect.stringMatching(
        /^Cannot reach Weir at https:\/\/no-such-host\.invalid: its name has no address \(E[A-Z_]+\)$/,
      ) as string,
    });
  });

  test("after Ctrl-C is exit code 130", async () => {
    const abort = new AbortController();
    await using weir = await gateway(() => abort.abort());
    await using to = await client(weir.address, { signal: abort.signal });
    await expect(to.json()).rejects.toMatchObject({ exit: 130 });
  });
});

describe("TLS", () => {
  test("with a certificate of an unknown authority is refused, unless its file or --tls-insecure is given", async () => {
    const { cert, key } = await selfSigned();
    await using directory = await tempDirectory("gateway-client");
    const caFile = join(directory.path, "ca.pem");
    await writeFile(caFile, cert);
    const secure = createTlsServer({ cert, key }, (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"));
    });
    secure.on("tlsClientError", () => {});
    await using server = await listening(secure);
    const address = `https://127.0.0.1:${server.port}`;
    await using stranger = await client(address);
    await expect(stranger.json()).rejects.toMatchObject({
      exit: 5,
      message: `Cannot reach Weir at ${address}: its certificate is not trusted (self-signed certificate); name a file with its authority with --ca-file`,
    });
    for (const tls of [{ caFile }, { tlsInsecure: true }]) {
      await using to = await client(address, { tls });
      expect(await to.json()).toEqual({});
    }
  });

  test("to a port without it is refused", async () => {
    await using weir = await gateway(json({}));
    const address = `https://127.0.0.1:${weir.port}`;
    await using to = await client(address);
    await expect(to.json()).rejects.toMatchObject({
      exit: 5,
      message: `Cannot reach Weir at ${address}: it does not speak TLS; is it http:// instead of https://?`,
    });
  });
});
