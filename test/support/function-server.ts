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

/** A function: a real HTTP server that keeps what it saw. */
export interface FunctionServer {
  /** `host:port`. */
  readonly address: string;
  readonly requests: SeenRequest[];
  /** Requests that came and were not answered whole yet. */
  readonly open: number;
  /** Requests whose connection broke before the answer was whole. */
  readonly aborted: number;
  close(): Promise<void>;
}

/** Answers one request; by default 200 with the text `ok`. `request` must be read by it if `readBody` is false. */
export type FunctionHandler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Opens a function on a free port; `readBody: false` hands requests over before their body was read, `keepAliveTimeout` is in milliseconds. */
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
    const note = (body: string): void => {
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
      note("");
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => note(Buffer.concat(chunks).toString("latin1")));
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

/** A function that answers whatever bytes it is told to, once its client sent a whole head. */
export interface RawFunction {
  readonly address: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  close(): Promise<void>;
}

/** Opens a raw function: `answer` gets the connection once a request's head has come. */
export async function openRawFunction(answer: string | ((socket: Socket) => void)): Promise<RawFunction> {
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
      if (typeof answer === "string") socket.write(Buffer.from(answer, "latin1"));
      else answer(socket);
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
