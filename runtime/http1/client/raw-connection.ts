import type { Socket, NetConnectOpts } from "node:net";

import { publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { MalformedReply } from "../../core/calls/malformed-reply.ts";
import type { ResponseHead } from "../response-head.ts";
import { ResponseParser, type ResponseSink } from "../response-parser.ts";
import type { HeadCache } from "../head-cache.ts";
import { ReadBuffer } from "../read-buffer.ts";
import type { CallCarrier, RawCall } from "./raw-call.ts";
import { ReplicaSocket } from "./replica-socket.ts";
import { RequestSender } from "./request-sender.ts";

/** Where a connection goes, and how; durations in milliseconds. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  /** Of a Unix socket, which takes the place of host and port. */
  readonly path?: string | undefined;
  readonly connectTimeout: number;
  /** How long an idle connection is kept if the replica does not say. */
  readonly idleTime: number;
  /**
   * How long a connection rests after a response that may be followed by bytes that are no part of it: they end it,
   * instead of being read as the response to the next request. 0: it is closed.
   */
  readonly restTime: number;
  /** Absent: without TLS. */
  readonly tls?: TlsRule | undefined;
}

/** How a connection with TLS is opened; given by the owner, so that who needs none loads none. */
export interface TlsRule {
  /** Connects; the socket emits `secureConnect` after the handshake. */
  connect(options: { readonly host: string; readonly port: number }): Socket;
  /** Whether the server is the expected one; asked after the handshake. */
  accepts(socket: Socket): boolean;
}

/** The owner of a connection, which opened it. */
export interface ConnectionOwner {
  /** Cache for the responses of this replica. */
  readonly heads: HeadCache<ResponseHead>;
  onOpened(connection: RawConnection): void;
  /** It could not be opened for the call; `late`: it was not accepted in time. */
  onConnectFailed(call: RawCall, err: Error, late: boolean): void;
  /** Its call has ended and it may carry another; false closes it. */
  onIdle(connection: RawConnection): boolean;
  /** The replica sent more than a response. */
  onExcess(): void;
  /** It was a kept one and closed before it sent anything of the call: another connection has to carry the call. */
  onNotSent(call: RawCall): void;
  /** It was a kept one and closed before the first byte of the response to a call that may be retried. */
  onRetryable(call: RawCall, err: Error): void;
  onClosed(connection: RawConnection): void;
}

/** Milliseconds that an idle connection is kept if the replica states a time: that less `margin`, capped. */
const keepAlive = { margin: 2_000, longest: 600_000 } as const;
/** Statuses of replies that have no body, and that functions send with one by mistake. */
const bodiless = { noContent: 204, notModified: 304 } as const;
/** Idle milliseconds after which the kernel probes whether the peer is still there (TCP keep-alive). */
const probeAfter = 60_000;

type State = "connecting" | "idle" | "due" | "busy" | "closed";

/** One connection to a replica: carries one call at a time. */
export class RawConnection implements CallCarrier, ResponseSink {
  /** When it is closed if still idle, in milliseconds of `performance.now()`. */
  expires = 0;
  /** It became idle in this turn of the event loop, in which more bytes of the replica may still be read. */
  fresh = false;
  /** Its last response must not have a body, which a replica may send anyway, a little later. */
  mayGetMore = false;
  readonly #owner: ConnectionOwner;
  readonly #idleTime: number;
  readonly #socket: Socket;
  /** Read as an ordinary stream, not into `#buffer`. */
  readonly #streamed: boolean;
  readonly #secure: boolean;
  readonly #parser: ResponseParser;
  readonly #sender: RequestSender;
  readonly #buffer = new ReadBuffer();
  #state: State = "connecting";
  #call: RawCall | undefined;
  #paused = false;
  /** It was not accepted in time. */
  #late = false;
  /** It carried another call before. */
  #kept = false;
  /** Bytes arrived since the call was sent. */
  #received = false;
  /** The replica takes nothing more; what it has sent is still read. */
  #deaf = false;
  #failure: Error | undefined;

  readonly #onReadable = (): void => {
    // Bytes that arrive after the hand-over are for the new owner.
    while (!this.#paused && this.#state !== "closed") {
      const chunk = this.#socket.read() as Buffer | null;
      if (chunk === null) return;
      this.#onBytes(chunk);
    }
  };
  readonly #onBytes = (chunk: Buffer): void => {
    // Unsolicited bytes must not become the response to the next call.
    if (this.#state !== "busy") {
      this.#owner.onExcess();
      return this.close();
    }
    this.#received = true;
    this.#parser.parse(chunk);
  };
  readonly #onError = (err: NodeJS.ErrnoException): void => {
    this.#failure = err;
    // A Unix socket refuses what its queue has no room for, where a port would let it wait.
    if (err.code === "EAGAIN") this.#late = true;
  };
  readonly #onEnd = (): void => {
    // Where a write failed, the end may be that of a reply that was cut.
    if (this.#state === "busy" && (this.#deaf || !this.#parser.end()))
      this.#fail("reset", this.#failure ?? new Error("the replica closed the connection"));
    this.close();
  };

  /** Connects, to send `call`. */
  constructor(owner: ConnectionOwner, destination: Destination, call: RawCall) {
    this.#owner = owner;
    this.#parser = new ResponseParser(this, owner.heads);
    this.#call = call;
    call.carrier = this;
    const { host, port, path, connectTimeout, tls } = destination;
    this.#idleTime = destination.idleTime;
    const place = path === undefined ? { host, port } : { path };
    const options = { ...place, noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfter };
    const onread = {
      buffer: () => this.#buffer.next(this.#parser.expected) as Buffer,
      callback: (size: number, buffer: Uint8Array) => this.#onRead(size, buffer),
    };
    // A connection to hand over must be an ordinary stream, and Node.js reads TLS only into buffers of its own.
    this.#secure = tls !== undefined;
    this.#streamed = call.request.upgrade !== undefined || tls !== undefined;
    const socket =
      tls === undefined
        ? this.#connect(this.#streamed ? options : { ...options, onread })
        : tls.connect({ ...options, host, port });
    this.#socket = socket;
    this.#sender = new RequestSender(socket, (err) => this.#fail("reset", err));
    const timer = setTimeout(() => {
      this.#late = true;
      socket.destroy(new Error(`Cannot connect to "${host}:${port}": it takes longer than ${connectTimeout} ms`));
    }, connectTimeout);
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      clearTimeout(timer);
      if (tls?.accepts(socket) === false) {
        socket.destroy(new Error(`another server listens at "${host}:${port}"`));
        return;
      }
      // `connect` of TLS does not take them as options.
      if (tls !== undefined) socket.setNoDelay().setKeepAlive(true, probeAfter);
      this.sendAssigned();
      owner.onOpened(this);
    });
    socket.on("end", this.#onEnd).on("error", this.#onError);
    socket.once("close", () => {
      clearTimeout(timer);
      this.#onClose();
    });
    if (this.#streamed) socket.on("readable", this.#onReadable);
    socket.unref();
  }

  #connect(options: NetConnectOpts): Socket {
    const socket = new ReplicaSocket(options);
    socket.onSendFailed = (err) => {
      this.#deaf = true;
      this.#failure = err;
      this.#sender.stop();
    };
    return socket.connect(options);
  }

  get idle(): boolean {
    return this.#state === "idle" && !this.#socket.destroyed;
  }

  /** Assigns a call, which `begin` sends. */
  assign(call: RawCall): void {
    this.#state = "due";
    this.#kept = true;
    this.#call = call;
    call.carrier = this;
  }

  /** Sends the assigned call; does nothing if there is none left to send. */
  sendAssigned(): void {
    const call = this.#call;
    // A connection that closed meanwhile reports it on `close`.
    if (call === undefined || this.#socket.destroyed || this.#state === "busy") return;
    this.#state = "busy";
    this.#received = false;
    this.#parser.begin(call.request);
    this.#sender.send(call.request);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Resolves once it is closed. */
  async closed(): Promise<void> {
    if (!this.#socket.closed) await new Promise((resolve) => this.#socket.once("close", resolve));
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#streamed) this.#onReadable();
    else this.#socket.resume();
  }

  abort(): void {
    // A mere end of this side would only say that no further request follows. A Unix socket, which has no port, knows no reset.
    const { remotePort, destroyed } = this.#socket;
    const mayReset = this.#state === "busy" && !this.#secure && !destroyed && remotePort !== undefined;
    if (mayReset) this.#socket.resetAndDestroy();
    this.#end();
  }

  onInterim(status: number, headers: readonly string[]): void {
    this.#call?.listener.onInterim?.(status, headers);
  }

  onHead(status: number, headers: readonly string[]): void {
    this.mayGetMore = status === bodiless.noContent || status === bodiless.notModified;
    this.#call?.listener.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    if (this.#call?.listener.onData(chunk, this.#buffer.keep) !== false || this.#paused) return;
    this.#paused = true;
    if (!this.#streamed) this.#socket.pause();
  }

  onTrailers(trailers: readonly string[]): void {
    const call = this.#call;
    if (call?.request.wantsTrailers === true) call.listener.onTrailers?.(trailers);
  }

  onExcess(): void {
    this.#owner.onExcess();
  }

  onEnd(persistent: boolean, idleTime: number | undefined): void {
    const call = this.#call;
    if (call === undefined) return;
    const time = idleTime === undefined ? this.#idleTime : Math.min(idleTime - keepAlive.margin, keepAlive.longest);
    const reusable = persistent && call.request.persistent && time > 0 && !this.#sender.sending && !this.#deaf;
    if (reusable) {
      this.resume();
      this.#call = undefined;
      this.#state = "idle";
      this.expires = performance.now() + time;
    }
    if (!reusable || !this.#owner.onIdle(this)) this.#end();
    call.end();
  }

  onSwitch(headers: readonly string[], rest: Buffer): void {
    const call = this.#call;
    const socket = this.#socket;
    if (call?.listener.onUpgrade === undefined) {
      this.onMalformed(publicly`a switch to a protocol that the caller does not handle`);
      return;
    }
    this.#state = "closed";
    this.#call = undefined;
    this.#sender.release();
    if (socket instanceof ReplicaSocket) socket.onSendFailed = undefined;
    socket.off("end", this.#onEnd).off("error", this.#onError).off("readable", this.#onReadable);
    this.#owner.onClosed(this);
    if (rest.length > 0) socket.unshift(rest);
    call.handOver(headers, socket);
  }

  onMalformed(why: PublicSentence): void {
    this.#fail("malformed", new MalformedReply(publicly`its reply has ${why}`));
  }

  #onRead(size: number, { buffer, byteOffset }: Uint8Array): boolean {
    this.#buffer.read(Buffer.from(buffer, byteOffset, size), this.#onBytes);
    return true;
  }

  #onClose(): void {
    const state = this.#state;
    const call = this.#call;
    const err = this.#failure ?? new Error("the connection closed");
    this.#end();
    this.#owner.onClosed(this);
    if (call === undefined) return;
    if (state === "due") this.#owner.onNotSent(call);
    else if (state === "connecting") this.#owner.onConnectFailed(call, err, this.#late);
    else this.#onCut(call, err);
  }

  #fail(kind: "reset" | "malformed", err: Error): void {
    const call = this.#call;
    this.#end();
    if (call === undefined) return;
    if (kind === "reset") this.#onCut(call, err);
    else call.fail(kind, err);
  }

  /**
   * The connection ended before the response did. A replica that stops, or closes for idleness, ends kept connections
   * without knowing of requests on their way: those are retried if that is allowed (RFC 9110 section 9.2.2).
   */
  #onCut(call: RawCall, err: Error): void {
    if (this.#kept && !this.#received && call.request.repeatable) this.#owner.onRetryable(call, err);
    else call.fail("reset", err);
  }

  /** Closes it; it carries no call any more. */
  #end(): void {
    const begun = this.#state === "busy";
    this.#state = "closed";
    this.#call = undefined;
    this.#parser.stop();
    if (begun) this.#sender.stop();
    this.#buffer.close();
    this.#socket.destroy();
  }
}
