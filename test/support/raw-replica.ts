import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** One connection to a replica, whose part the test plays. */
export interface ReplicaConnection {
  readonly socket: Socket;
  /** Everything received on it, one character per byte. */
  readonly received: string;
  /** Whether the other side ended it, or it broke. */
  readonly ended: boolean;
  /** Writes one character per byte. */
  write(text: string): void;
  /** Ends it with a reset, as the kernel does for a process that is killed. */
  reset(): void;
}

/** A replica whose every byte the test writes and reads. */
export interface RawReplica {
  /** `host:port`. */
  readonly host: string;
  /** The same, or with TLS its origin. */
  readonly address: string;
  /** In order of arrival. */
  readonly connections: readonly ReplicaConnection[];
  close(): Promise<void>;
}

/** Opens one on a free port; `onHead` is called for each empty line, which ends the head of a request without body. */
export async function openRawReplica(
  onHead: (connection: ReplicaConnection) => void = () => {},
  onConnection: (connection: ReplicaConnection) => void = () => {},
  tls?: { readonly cert: Buffer; readonly key: Buffer },
): Promise<RawReplica> {
  const connections: ReplicaConnection[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (tcp) => {
    const socket = tls === undefined ? tcp : new TLSSocket(tcp, { isServer: true, ...tls });
    let received = "";
    let ended = false;
    let heads = 0;
    const connection: ReplicaConnection = {
      socket,
      get received() {
        return received;
      },
      get ended() {
        return ended;
      },
      write: (text) => void socket.write(Buffer.from(text, "latin1")),
      reset: () => void tcp.resetAndDestroy(),
    };
    connections.push(connection);
    const end = (): void => void (ended = true);
    socket.on("end", end).on("close", end).on("error", end);
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      for (const count = received.split("\r\n\r\n").length - 1; heads < count; heads += 1) onHead(connection);
    });
    onConnection(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    address: tls === undefined ? host : `https://${host}`,
    connections,
    close: async () => {
      server.close();
      for (const { socket } of connections) socket.destroy();
      await once(server, "close");
    },
  };
}
