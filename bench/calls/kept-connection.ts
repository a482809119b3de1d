import { once } from "node:events";
import { connect } from "node:net";

const headEnd = "\r\n\r\n";
const success = "HTTP/1.1 200 ";

/** A connection that is kept and takes one call at a time. */
export interface KeptConnection {
  /** Sends the call; not before the last one is answered. */
  send(): void;
  close(): void;
}

/** What is sent over a connection, and who is told. */
export interface KeptCall {
  readonly port: number;
  /** Head and body as they go over the wire. */
  readonly call: Uint8Array;
  /** Is called with the whole answer read, which is not kept. */
  readonly onAnswer: (connection: KeptConnection) => void;
  /** The connection is of no more use: it was closed, or the answer is not a 200 with a length. */
  readonly onFailure: (err: Error) => void;
}

/**
 * Opens a connection to a port of the loopback address. A client that does no more than a measurement needs, as what a
 * client costs is taken from the function beside it and counts as latency.
 */
export async function openKeptConnection({ port, call, onAnswer, onFailure }: KeptCall): Promise<KeptConnection> {
  /** Bytes of the answer that are still to come once its head is read. */
  let left = 0;
  let head = "";
  const read = (chunk: Buffer): void => {
    if (left > 0) left -= chunk.length;
    else {
      head += chunk.toString("latin1");
      const end = head.indexOf(headEnd);
      if (end < 0) return;
      left = bodyLength(head.slice(0, end)) - (head.length - end - headEnd.length);
      head = "";
    }
    if (left === 0) onAnswer(connection);
    else if (!(left > 0)) throw new Error("the answer is not a 200 of a known length");
  };
  const fail = (cause: unknown): void => {
    socket.destroy();
    onFailure(new Error(`Cannot call port ${port}`, { cause }));
  };
  const onread = {
    buffer: Buffer.allocUnsafe(262_144),
    callback: (length: number, buffer: Uint8Array): boolean => {
      try {
        read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      } catch (err) {
        fail(err);
      }
      return true;
    },
  };
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, onread });
  const connection: KeptConnection = {
    send: () => void socket.write(call),
    close: () => {
      socket.removeListener("close", closed);
      socket.destroy();
    },
  };
  const closed = (): void => fail(new Error("the connection was closed"));
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.on("close", closed);
  return connection;
}

/** NaN when it is not a 200 that says its length. */
function bodyLength(head: string): number {
  return head.startsWith(success) ? Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]) : Number.NaN;
}
