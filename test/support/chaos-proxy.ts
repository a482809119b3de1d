import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** What happens to the bytes of one direction. Nothing set = passed on at once. */
export interface ChaosFaults {
  /** Milliseconds each byte is held. */
  readonly latency?: number;
  /** Up to so many milliseconds more, at random per chunk; order is kept. */
  readonly jitter?: number;
  /** Bytes a second. */
  readonly rate?: number;
  /** Most bytes written at once. */
  readonly slice?: number;
  /** Nothing passes, not even the end of a connection; both sides believe the other is there. */
  readonly blackHole?: boolean;
  /** Each connection is reset once so many of its bytes have passed. */
  readonly cutAfter?: number;
}

export interface ChaosCounters {
  /** Connections accepted so far. */
  readonly connections: number;
  readonly open: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Connections that the proxy itself broke. */
  readonly broken: number;
}

/** A TCP proxy that misbehaves on demand; changes reach open connections. */
export interface ChaosProxy extends AsyncDisposable {
  readonly port: number;
  /** Faults from client to upstream, replacing the former ones. */
  up(faults: ChaosFaults): void;
  /** Faults from upstream to client, replacing the former ones. */
  down(faults: ChaosFaults): void;
  /** Both directions behave again. */
  heal(): void;
  /** Resets every open connection now. */
  reset(): void;
  /** Resets the `n`-th connection accepted from now on (1 = the next) at once. */
  closeNth(n: number): void;
  /** Where new connections go from now on. */
  target(port: number): void;
  counters(): ChaosCounters;
  close(): Promise<void>;
}

type Piece = { readonly bytes: Buffer; readonly at: number; readonly extra: number } | "end" | "reset";

const mostHeld = 1_048_576;

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
    const pieces: Piece[] = [];
    let held = 0;
    let passed = 0;
    let freeAt = 0;
    const take = (piece: Piece): void => {
      pieces.push(piece);
      changed();
    };
    from.on("data", (bytes: Buffer) => {
      held += bytes.length;
      if (held > mostHeld) from.pause();
      take({ bytes, at: performance.now(), extra: Math.random() });
    });
    from.on("end", () => take("end"));
    from.on("error", () => take("reset"));

    while (pairs.has(pair)) {
      const piece = pieces[0];
      const { latency = 0, jitter = 0, rate, slice, blackHole, cutAfter } = faults[direction];
      if (piece === undefined || blackHole === true) {
        await wait();
        continue;
      }
      if (piece === "end") {
        to.end();
        return;
      }
      if (piece === "reset") return breakPair(pair);
      const due = Math.max(piece.at + latency + jitter * piece.extra, freeAt);
      if (due > performance.now()) {
        await wait(due - performance.now());
        continue;
      }
      const left = cutAfter === undefined ? Number.POSITIVE_INFINITY : cutAfter - passed;
      if (left <= 0) return breakPair(pair);
      const bytes = piece.bytes.subarray(0, Math.min(slice ?? piece.bytes.length, left));
      pieces.shift();
      if (bytes.length < piece.bytes.length) pieces.unshift({ ...piece, bytes: piece.bytes.subarray(bytes.length) });
      passed += bytes.length;
      held -= bytes.length;
      if (held <= mostHeld) from.resume();
      counts[direction === "up" ? "bytesUp" : "bytesDown"] += bytes.length;
      freeAt = rate === undefined ? 0 : performance.now() + (bytes.length * 1_000) / rate;
      // The write's own answer keeps slices apart and a slow reader slow.
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
