import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** A function that speaks WebSocket: real frames over real sockets, one frame per message, no extensions. */
export interface WebSocketFunction {
  /** `host:port`. */
  readonly address: string;
  /** Received handshakes. */
  readonly handshakes: readonly IncomingMessage[];
  /** Number of open connections. */
  readonly open: number;
  close(): Promise<void>;
}

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcode = { text: 1, close: 8 } as const;

/** Handles one message; it may end the connection. */
export type MessageHandler = (text: string, send: (text: string) => void, connection: Duplex) => void;

/** Takes over a connection after its handshake. */
export type ConnectionHandler = (connection: Duplex, request: IncomingMessage) => void;

/** Opens one on a free port; by default it echoes each message. Requests other than handshakes get 426. */
export async function openWebSocketFunction(
  onMessage: MessageHandler = (text, send) => send(text),
  onConnection: ConnectionHandler = (connection) => speakFrames(connection, onMessage),
): Promise<WebSocketFunction> {
  const handshakes: IncomingMessage[] = [];
  const connections = new Set<Duplex>();
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(426, { upgrade: "websocket", connection: "upgrade" }).end("speak WebSocket");
  });
  server.on("upgrade", (request: IncomingMessage, connection: Duplex) => {
    handshakes.push(request);
    connections.add(connection);
    connection.on("error", () => {});
    connection.on("close", () => connections.delete(connection));
    connection.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(request.headers["sec-websocket-key"] ?? "")}\r\nX-Own: 1\r\n\r\n`,
    );
    onConnection(connection, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    handshakes,
    get open() {
      return connections.size;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      for (const connection of connections) connection.destroy();
      await once(server, "close");
    },
  };
}

/** The value of `Sec-WebSocket-Accept` for a key. */
function acceptOf(key: string): string {
  return createHash("sha1")
    .update(key + magic)
    .digest("base64");
}

function speakFrames(connection: Duplex, onMessage: MessageHandler): void {
  let buffered = Buffer.alloc(0);
  connection.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (let frame = readFrame(buffered); frame !== undefined; frame = readFrame(buffered)) {
      buffered = buffered.subarray(frame.end);
      if (frame.opcode === opcode.close) {
        connection.end(formatFrame(opcode.close, frame.payload));
        return;
      }
      onMessage(frame.payload.toString(), (text) => connection.write(textFrame(text)), connection);
    }
  });
  connection.on("end", () => connection.end());
}

/** One unmasked text frame. */
export function textFrame(text: string): Buffer {
  return formatFrame(opcode.text, Buffer.from(text));
}

function formatFrame(code: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | code;
  if (length < 126) head[1] = length;
  else if (length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

/** The first complete frame, masked as clients send it. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const lengthEnd = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < lengthEnd + 4) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const start = lengthEnd + 4;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(lengthEnd, start);
  const payload = bytes.subarray(start, start + length).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(payload), end: start + length };
}
