import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

import { afterEach, expect, test } from "vitest";

import type { RequestHead } from "../../../../../runtime/gateway/calls/request-head.ts";
import { Http1Exchange } from "../../../../../runtime/gateway/edge/http1/http1-exchange.ts";

const server = createServer();
afterEach(() => {
  server.close();
});

async function socketOfServer(): Promise<Socket> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  socket.once("close", () => client.destroy());
  return socket;
}

test("a write on an aborted connection is never reported as sent; its writer waits and sees the abort", async () => {
  const socket = await socketOfServer();
  const connection = {
    socket,
    remoteAddress: "127.0.0.1",
    goesOn: "",
    unread: false,
    isLast: false,
    onWritten: () => {},
    cut: () => socket.destroy(),
  };
  const text = { method: "GET", target: "/", version: "1.1" as const, rawHeaders: [] };
  const exchange = new Http1Exchange(connection, text, {} as RequestHead, undefined);
  exchange.writeHead(200);
  let sent = 0;
  const write = () => exchange.write(Buffer.from("x"), () => (sent += 1));
  write();
  await expect.poll(() => sent).toBe(1);
  socket.destroy();
  expect(write()).toBe(true);
  expect(exchange.end().writableEnded).toBe(true);
  await once(socket, "close");
  await turn();
  expect(sent).toBe(1);
});
