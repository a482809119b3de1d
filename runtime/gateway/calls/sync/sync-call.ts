import type { Duplex } from "node:stream";

import { PlatformError } from "../../../api/platform-error.ts";
import { decideAttempt, type RefusedAttempt } from "../../../core/calls/decide-attempt.ts";
import type { ReadyReplica } from "../../../core/replicas/pick-replica.ts";
import type { KeepBytes, UpstreamCall, UpstreamListener } from "../../../core/ports/upstream.ts";
import { UnsendableHeader } from "../../../http1/write-headers.ts";
import type { CutReason } from "../call-facts.ts";
import { endRunStatus, endStatus } from "../call-observer.ts";
import type { Deadlined } from "./deadline-sweep.ts";
import { outgoingRequest } from "./outgoing-request.ts";
import { addedHeaders, upgradeHeaders, type ReplyFacts } from "./reply-headers.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { bytesOf, giveUp, isTouched, type CallBody } from "./request-body.ts";
import { silencePeriod, StreamSilence } from "./stream-silence.ts";
import type { FailureCode, SyncCallFacts, SyncCallParts } from "./sync-call-parts.ts";
import { waitingCaller } from "./waiting-caller.ts";

/** Time a client has for reading the error that ended its call; then its connection is cut. */
const errorGrace = 5_000;

/** One synchronous call under way, from the pick of a replica to the last byte read by the client. */
export class SyncCall implements UpstreamListener, Deadlined {
  deadline = Number.POSITIVE_INFINITY;
  slot = -1;
  readonly #parts: SyncCallParts;
  readonly #facts: SyncCallFacts;
  readonly #body: CallBody;
  readonly #reply: ReplyWriter;
  #replica: ReadyReplica | undefined;
  #upstreamCall: UpstreamCall | undefined;
  #waiting: AbortController | undefined;
  #waitedSince: number | undefined;
  /** Connections that were refused. */
  #refusals = 0;
  #drainAwaited = false;
  /** The head of the function's reply came: the call may last as long as bytes pass. */
  #streams = false;
  #silence: StreamSilence | undefined;
  #cutFor: CutReason | undefined;
  /** Milliseconds to the 101 of a WebSocket. */
  #upgradedAfter: number | undefined;
  #closed = false;

  constructor(parts: SyncCallParts, facts: SyncCallFacts) {
    this.#parts = parts;
    this.#facts = facts;
    this.#body = (facts.hasBody ? facts.exchange.body : undefined) ?? null;
    this.#reply = new ReplyWriter(facts.exchange);
  }

  /** Sends the call to a replica, waking the function first if need be. Everything else happens by events. */
  start(): void {
    const { exchange, counts } = this.#facts;
    counts.begin();
    this.#parts.sweep.add(this);
    exchange.on("close", () => this.#close());
    this.#route();
  }

  onHead(status: number, headers: readonly string[]): void {
    const { exchange } = this.#facts;
    if (exchange.headersSent) return;
    if (this.#parts.draining()) exchange.shouldKeepAlive = false;
    const facts = this.#replyFacts();
    try {
      const passed = this.#parts.replies.passedOn(status, headers);
      this.#reply.begin(status, passed, addedHeaders(passed, facts), this.#parts.flushLater);
      this.#stream(this.#facts.startedAt + facts.duration);
    } catch (err) {
      this.#abort();
      this.#refuseHead(err);
    }
  }

  onData(chunk: Uint8Array, keep?: KeepBytes): boolean {
    if (this.#reply.write(chunk, keep)) return true;
    this.#awaitDrain();
    return false;
  }

  onTrailers(trailers: readonly string[]): void {
    this.#facts.exchange.sendTrailers(trailers);
  }

  onEnd(): void {
    this.#release();
    if (!this.#facts.exchange.writableEnded) this.#reply.end();
  }

  onUpgrade(headers: readonly string[], connection: Duplex): void {
    const { exchange } = this.#facts;
    const facts = this.#replyFacts();
    try {
      if (exchange.upgrade === undefined) throw new Error("nobody asked for an upgrade");
      exchange.upgrade.join(upgradeHeaders(headers, facts), connection, this.#parts.webSocketIdle);
      this.#upgradedAfter = facts.duration;
      this.deadline = Number.POSITIVE_INFINITY;
    } catch (err) {
      connection.destroy();
      this.#release();
      this.#refuseHead(err);
    }
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    const refusing = this.#replica;
    this.#release();
    // A fault that came with the head is told instead of it.
    if (!this.#reply.takeBack()) {
      this.#cutOff("replica");
    } else if (kind === "refused") {
      this.#routeElsewhere(refusing, err);
    } else if (kind === "malformed") {
      this.#refuseReply("its reply breaks the rules of HTTP", err);
    } else {
      this.#fail("function_unreachable", "the connection broke before the reply", { cause: err });
    }
  }

  expire(now: number): void {
    const { exchange, limit } = this.#facts;
    if (this.#streams) return this.#listen(now);
    if (this.#upstreamCall !== undefined && exchange.headersSent) return this.#cutOff("timeout");
    this.#abort();
    if (exchange.headersSent) return void exchange.destroy();
    this.deadline = now + errorGrace;
    this.#fail("function_timeout", `no reply within ${limit.timeoutName} of ${limit.timeout / 1_000} s`);
  }

  /** Nothing else tells one whose client ended its side with bytes still to read. */
  isLost(): boolean {
    return this.#facts.exchange.isLost();
  }

  lose(): void {
    this.#facts.exchange.destroy();
    this.#close();
  }

  cut(): void {
    this.#cutOff("draining");
  }

  #route(refused?: RefusedAttempt, cause?: Error): void {
    const { entry, limits } = this.#facts;
    const next = decideAttempt(entry, limits.concurrencyMax, refused);
    switch (next.kind) {
      case "send":
        return this.#send(next.replica);
      case "wait":
        return this.#wait();
      case "busy":
        return this.#fail("too_many_calls", next.state, { retryAfterSeconds: 1 });
      case "dead-letter":
        return this.#fail("function_unreachable", "the connection was refused", { cause });
      default:
        return next satisfies never;
    }
  }

  #routeElsewhere(replica: ReadyReplica | undefined, cause: Error): void {
    const repeatable = !this.#closed && !isTouched(this.#body);
    this.#route({ replica, before: this.#refusals++, repeatable }, cause);
  }

  #wait(): void {
    this.#waitedSince ??= performance.now();
    this.deadline = Number.POSITIVE_INFINITY;
    this.#waiting = new AbortController();
    const after = (go: () => void): void => {
      this.#waiting = undefined;
      if (!this.#closed && this.#cutFor === undefined) go();
    };
    const caller = waitingCaller(this.#facts.exchange, this.#waiting.signal);
    const ready = this.#parts.waker.wait(this.#facts.entry, { ...caller, since: this.#waitedSince });
    const failed = (err: unknown): void => after(() => this.#answer(err));
    ready.then(() => after(() => this.#route()), failed);
  }

  #send(replica: ReadyReplica): void {
    const { limit, startedAt } = this.#facts;
    // The time of the wait is not the call's own.
    const began = this.#waitedSince === undefined ? startedAt : performance.now();
    if (this.deadline === Number.POSITIVE_INFINITY) this.deadline = began + limit.timeout;
    this.#replica = replica;
    replica.inFlight += 1;
    const call = this.#parts.upstream.dispatch(replica.address, outgoingRequest(this.#facts, this.#body), this);
    if (this.#replica === replica) this.#upstreamCall = call;
  }

  /** The limit of a call was that of its head; that of a queued run is of all of it. */
  #stream(now: number): void {
    if (this.#facts.exchange.head.fromWorker) return;
    this.#streams = true;
    this.deadline = now + silencePeriod(this.#parts.streamIdle);
  }

  #listen(now: number): void {
    const bytes = this.#reply.bytes + bytesOf(this.#body);
    this.#silence ??= new StreamSilence(this.#parts.streamIdle, bytes, now);
    const next = this.#silence.look(bytes, now);
    if (next === undefined) this.#cutOff("idle");
    else this.deadline = next;
  }

  /** Closes the client's connection, which is all that can still be told of it. */
  #cutOff(reason: CutReason): void {
    this.#cutFor = reason;
    this.#abort();
    this.#facts.exchange.destroy();
  }

  #awaitDrain(): void {
    if (this.#drainAwaited) return;
    this.#drainAwaited = true;
    this.#facts.exchange.once("drain", () => {
      this.#drainAwaited = false;
      this.#upstreamCall?.resume();
    });
  }

  #abort(): void {
    this.#waiting?.abort();
    if (this.#replica !== undefined) this.#release()?.abort();
  }

  /** The exchange with the replica is over. */
  #release(): UpstreamCall | undefined {
    const call = this.#upstreamCall;
    if (this.#replica !== undefined) this.#replica.inFlight -= 1;
    this.#replica = undefined;
    this.#upstreamCall = undefined;
    return call;
  }

  #replyFacts(): ReplyFacts {
    const { callId, startTime, startedAt } = this.#facts;
    return { callId, startTime, duration: performance.now() - startedAt };
  }

  /** Anything but a header that cannot be sent is a defect of our own. */
  #refuseHead(err: unknown): void {
    if (err instanceof UnsendableHeader) this.#refuseReply("its reply has a header that cannot be passed on", err);
    else this.#answer(err);
  }

  #refuseReply(why: string, cause: unknown): void {
    this.#fail("bad_function_reply", why, { cause });
  }

  #fail(code: FailureCode, state: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}): void {
    this.#answer(new PlatformError(code, `Cannot call function "${this.#facts.entry.key}": ${state}`, options));
  }

  #answer(err: unknown): void {
    const { exchange, callId, traceParent } = this.#facts;
    if (exchange.headersSent) return;
    // What is left of a body that nobody wants is not worth waiting for.
    if (this.#parts.draining() || (this.#facts.hasBody && !exchange.complete)) exchange.shouldKeepAlive = false;
    this.#reply.bytes = this.#parts.writeError(exchange, err, { callId, traceParent, invocation: true });
  }

  /** The reply was read by the client, or the client is gone. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort();
    giveUp(this.#body);
    this.#parts.sweep.remove(this);
    const { exchange, counts, startedAt } = this.#facts;
    const bytes = this.#upgradedAfter === undefined ? undefined : exchange.upgrade;
    if (bytes?.idled === true) this.#cutFor = "idle";
    else if (exchange.unread) this.#cutFor ??= "unread";
    const status = (exchange.head.fromWorker ? endRunStatus : endStatus)(exchange, this.#cutFor);
    const duration = performance.now() - startedAt;
    counts.finish(status, this.#upgradedAfter ?? duration);
    this.#parts.observer.ended(this.#facts, {
      status,
      duration,
      bytesIn: bytes?.bytesIn ?? bytesOf(this.#body),
      bytesOut: bytes?.bytesOut ?? this.#reply.bytes,
      cut: this.#cutFor,
    });
  }
}
