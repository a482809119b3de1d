import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Faults of one direction. Without any, bytes are passed on at once. */
export interface ChaosFaults {
  /** Delay of each byte, milliseconds. */
  readonly latency?: number;
  /** Maximum of a random extra delay per chunk, milliseconds; order is kept. */
  readonly jitter?: number;
  /** Bytes per second. */
  readonly rate?: number;
  /** Maximum bytes per write. */
  readonly slice?: number;
  /** Nothing passes, not even the end of a connection: each side believes that the other is there. */
  readonly blackHole?: boolean;
  /** Each connection is reset after this many bytes. */
  readonly cutAfter?: number;
}

export interface ChaosCounters {
  /** Connections accepted so far. */
  readonly connections: number;
  readonly open: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Connections that the proxy itself reset. */
  readonly broken: number;
}

/** A TCP proxy that injects faults; changes also apply to open connections. */
export interface ChaosProxy extends AsyncDisposable {
  readonly port: number;
  /** Replaces the faults from client to upstream. */
  up(faults: ChaosFaults): void;
  /** Replaces the faults from upstream to client. */
  down(faults: ChaosFaults): void;
  /** Removes the faults of both directions. */
  heal(): void;
  /** Resets every open connection. */
  reset(): void;
  /** Resets the `n`-th connection from now on (1 = the next) as soon as it is accepted. */
  closeNth(n: number): void;
  /** Sets the upstream port of new connections. */
  target(port: number): void;
  counters(): ChaosCounters;
  close(): Promise<void>;
}

type Chunk = { readonly bytes: Buffer; readonly at: number; readonly extra: number } | "end" | "reset";

const maxBuffered = 1_048_576;

/** Opens a proxy on a free port of 127.0.0.1 to `port` of 127.0.0.1. */
export async function openChaosProxy(port: number): Promise<ChaosProxy> {
  const faults: { up: ChaosFaults; down: ChaosFaults } = { up: {}, down: {} };
  const counts = { connections: 0, bytesUp: 0, bytesDown: 0, broken: 0 };
  const pairs = new Set<readonly [Socket, Socket]>();
  const wakes = new Set<() => void>();
  const doomed = new Set<number>();
  let target = port;

  const changed = (): void => wakes.forEach((wake) => wake());
  const breakPair = (pair: readonly [Socket, Socket]): void => {
    if (pairs.delete(pair)) counts.broken += 1;
    for (const socket of pair) if (!socket.destroyed) socket.resetAndDestroy();
    changed();
  };
  /** Resolves after `delay` milliseconds or when faults change, whichever comes first. */
  const wait = (delay?: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        wakes.delete(wake);
        resolve();
      };
      const timer = delay === undefined ? undefined : setTimeout(wake, delay);
      wakes.add(wake);
    });

  const pump = async (
    direction: "up" | "down",
    from: Socket,
    to: Socket,
    pair: readonly [Socket, Socket],
  ): Promise<void> => {
    const chunks: Chunk[] = [];
    let buffered = 0;
    let passed = 0;
    let freeAt = 0;
    const enqueue = (chunk: Chunk): void => {
      chunks.push(chunk);
      changed();
    };
    from.on("data", (bytes: Buffer) => {
      buffered += bytes.length;
      if (buffered > maxBuffered) from.pause();
      enqueue({ bytes, at: performance.now(), extra: Math.random() });
    });
    from.on("end", () => enqueue("end"));
    from.on("error", () => enqueue("reset"));

    while (pairs.has(pair)) {
      const chunk = chunks[0];
      const { latency = 0, jitter = 0, rate, slice, blackHole, cutAfter } = faults[direction];
      if (chunk === undefined || blackHole === true) {
        await wait();
        continue;
      }
      if (chunk === "end") {
        to.end();
        return;
      }
      if (chunk === "reset") return breakPair(pair);
      const due = Math.max(chunk.at + latency + jitter * chunk.extra, freeAt);
      if (due > performance.now()) {
        await wait(due - performance.now());
        continue;
      }
      const left = cutAfter === undefined ? Number.POSITIVE_INFINITY : cutAfter - passed;
      if (left <= 0) return breakPair(pair);
      const bytes = chunk.bytes.subarray(0, Math.min(slice ?? chunk.bytes.length, left));
      chunks.shift();
      if (bytes.length < chunk.bytes.length) chunks.unshift({ ...chunk, bytes: chunk.bytes.subarray(bytes.length) });
      passed += bytes.length;
      buffered -= bytes.length;
      if (buffered <= maxBuffered) from.resume();
      counts[direction === "up" ? "bytesUp" : "bytesDown"] += bytes.length;
      freeAt = rate === undefined ? 0 : performance.now() + (bytes.length * 1_000) / rate;
      // Waiting for the write's callback keeps slices apart and passes on a slow reader's back-pressure.
      await new Promise<void>((resolve) => to.write(bytes, () => resolve()));
    }
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    counts.connections += 1;
    client.on("error", () => undefined);
    if (doomed.delete(counts.connections)) {
      counts.broken += 1;
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true, noDelay: true });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("close", () => {
        if (client.destroyed && upstream.destroyed) pairs.delete(pair);
        changed();
      });
    }
    void pump("up", client, upstream, pair);
    void pump("down", upstream, client, pair);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot open chaos proxy: no address given");

  const set = (change: Partial<typeof faults>): void => {
    Object.assign(faults, change);
    changed();
  };
  const reset = (): void => [...pairs].forEach(breakPair);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    reset();
    await once(server, "close");
  };
  return {
    port: address.port,
    up: (up) => set({ up }),
    down: (down) => set({ down }),
    heal: () => set({ up: {}, down: {} }),
    reset,
    closeNth: (n) => void doomed.add(counts.connections + n),
    target: (to) => {
      target = to;
    },
    counters: () => ({ ...counts, open: pairs.size }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
