import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";

/** A request as the function saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As sent, flat. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A function: a real HTTP server that records its requests. */
export interface FunctionServer {
  /** `host:port`. */
  readonly address: string;
  readonly requests: SeenRequest[];
  /** Requests whose response is not complete yet. */
  readonly open: number;
  /** Requests whose connection closed before the response was complete. */
  readonly aborted: number;
  close(): Promise<void>;
}

/** Responds to one request. It must read `request` itself if `readBody` is false. */
export type FunctionHandler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/**
 * Opens a function on a free port; by default it responds with 200 and the text `ok`. `readBody: false` passes requests
 * to `handler` before their body is read; `keepAliveTimeout` is in milliseconds.
 */
export async function openFunctionServer(
  handler: FunctionHandler = (_request, response) => response.end("ok"),
  options: { readonly readBody?: boolean; readonly keepAliveTimeout?: number } = {},
): Promise<FunctionServer> {
  const requests: SeenRequest[] = [];
  let open = 0;
  let aborted = 0;
  const server: Server = createServer({ keepAliveTimeout: options.keepAliveTimeout ?? 30_000 }, (request, response) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
      if (!response.writableFinished) aborted += 1;
    });
    const record = (body: string): void => {
      const headers = request.headers as Readonly<Record<string, string | undefined>>;
      requests.push({
        method: request.method ?? "",
        target: request.url ?? "",
        headers,
        rawHeaders: request.rawHeaders,
        body,
      });
      handler(request, response, body);
    };
    if (options.readBody === false) {
      record("");
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => record(Buffer.concat(chunks).toString("latin1")));
    request.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get open() {
      return open;
    },
    get aborted() {
      return aborted;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** A function that sends arbitrary bytes once its client has sent a complete head. */
export interface RawFunction {
  readonly address: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  close(): Promise<void>;
}

/** Opens a raw function: after each request head it sends `reply`, or calls it with the connection. */
export async function openRawFunction(reply: string | ((socket: Socket) => void)): Promise<RawFunction> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let head = "";
    socket.on("data", (chunk: Buffer) => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      head = "";
      if (typeof reply === "string") socket.write(Buffer.from(reply, "latin1"));
      else reply(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
