import { once } from "node:events";
import { connect } from "node:net";

const headEnd = "\r\n\r\n";
const success = "HTTP/1.1 200 ";

/** A keep-alive connection that carries one call at a time. */
export interface KeptConnection {
  /** Sends the call; the previous one must have ended. */
  send(): void;
  close(): void;
}

/** The call that is sent over a connection, and its callbacks. */
export interface KeptCall {
  readonly port: number;
  /** Head and body in wire format. */
  readonly call: Uint8Array;
  /** Called when a whole response has been read and discarded. */
  readonly onAnswer: (connection: KeptConnection) => void;
  /** Called when the connection is unusable: closed, or the response is not a 200 with a Content-Length. */
  readonly onFailure: (err: Error) => void;
}

/**
 * Opens a connection to a port of the loopback address. The client does no more than a measurement needs: its CPU time
 * is taken from the function on the same core and counts as latency.
 */
export async function openKeptConnection({ port, call, onAnswer, onFailure }: KeptCall): Promise<KeptConnection> {
  /** Bytes of the response body that are still to come. */
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

/** NaN unless the response is a 200 with a Content-Length. */
function bodyLength(head: string): number {
  return head.startsWith(success) ? Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]) : Number.NaN;
}
