import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";

import { apiVersion } from "../../runtime/api/version.ts";

/** What a stand-in replies to requests of the command `weir`. */
export interface GatewayStandInOptions {
  /** PEM; with it the stand-in speaks TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** `X-Api-Version`. */
  readonly version?: string;
  /** Milliseconds that its clock is ahead. */
  readonly ahead?: number;
}

export interface GatewayStandIn extends AsyncDisposable {
  readonly port: number;
}

/** A gateway of an older release, which has no `/system/doctor`. */
export async function openGatewayStandIn(options: GatewayStandInOptions = {}): Promise<GatewayStandIn> {
  const { tls, version = apiVersion, ahead = 0 } = options;
  const reply: RequestListener = ({ url }, response) => {
    response.setHeader("date", new Date(Date.now() + ahead).toUTCString());
    response.setHeader("x-api-version", version);
    if (url === "/healthz") response.end();
    else if (url === "/system/info") response.end('{"provider":{"orchestration":"process"}}');
    else {
      response.writeHead(404, { "content-type": "application/problem+json" });
      response.end('{"code":"route_not_found","detail":"Cannot find route \\"/system/doctor\\": it does not exist"}');
    }
  };
  return listening(tls === undefined ? createHttpServer(reply) : createHttpsServer(tls, reply));
}

/** An HTTP proxy that leads every CONNECT to `port` of this machine; without one it refuses them. */
export async function openConnectProxy(port: number | undefined): Promise<GatewayStandIn> {
  const server = createHttpServer();
  server.on("connect", (_request, client: Socket) => {
    client.on("error", () => {});
    if (port === undefined) {
      client.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
  });
  return listening(server);
}

async function listening(
  server: ReturnType<typeof createHttpServer | typeof createHttpsServer>,
): Promise<GatewayStandIn> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
