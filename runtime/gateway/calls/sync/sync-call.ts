import type { Duplex } from "node:stream";

import { PlatformError } from "../../../api/platform-error.ts";
import { named, publicly, type PublicSentence } from "../../../api/public-sentence.ts";
import { brokenRule } from "../../../core/calls/malformed-reply.ts";
import { decideAttempt, type RefusedAttempt } from "../../../core/calls/decide-attempt.ts";
import type { ReadyReplica } from "../../../core/replicas/pick-replica.ts";
import type { KeepBytes, UpstreamCall, UpstreamListener } from "../../../core/ports/upstream.ts";
import { UnsendableHeader } from "../../../http1/write-headers.ts";
import type { CutReason } from "../call-facts.ts";
import { endRunStatus, endStatus } from "../call-observer.ts";
import type { Deadlined } from "./deadline-sweep.ts";
import { outgoingRequest } from "./outgoing-request.ts";
import { addedHeaders, passedHeaders, upgradeHeaders, type ReplyFacts } from "./reply-headers.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { bytesOf, giveUp, isTouched, type CallBody } from "./request-body.ts";
import { idleCheckPeriod, StreamIdle } from "./stream-idle.ts";
import type { FailureCode, SyncCallFacts, SyncCallParts } from "./sync-call-parts.ts";
import { waitingCaller } from "./waiting-caller.ts";

/** Milliseconds that a client has to read the error that ended its call, before its connection is cut. */
const errorGrace = 5_000;

/** One synchronous call in flight, from the choice of a replica to the last byte read by the client. */
export class SyncCall implements UpstreamListener, Deadlined {
  deadline = Number.POSITIVE_INFINITY;
  slot = -1;
  readonly #parts: SyncCallParts;
  readonly #facts: SyncCallFacts;
  readonly #body: CallBody;
  readonly #reply: ReplyWriter;
  #replica: ReadyReplica | undefined;
  /** Name of the replica that it was sent to last. */
  #sentTo: string | undefined;
  #upstreamCall: UpstreamCall | undefined;
  #waiting: AbortController | undefined;
  #waitingSince: number | undefined;
  #waitedUntil: number | undefined;
  /** Connections that replicas refused. */
  #refusals = 0;
  #drainAwaited = false;
  /** Whether the head of the function's reply arrived: from then on the call may last as long as bytes pass. */
  #isStreaming = false;
  #idleWatch: StreamIdle | undefined;
  #cutReason: CutReason | undefined;
  /** Whether the reply is an error of the gateway itself. */
  #isOwnError = false;
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
    counts.begin(this.#facts.startedAt);
    this.#parts.sweep.add(this);
    exchange.on("close", () => this.#close());
    this.#route();
  }

  onInterim(status: number, headers: readonly string[]): void {
    this.#facts.exchange.sendInterim(status, passedHeaders(status, headers).list);
  }

  onHead(status: number, headers: readonly string[]): void {
    const { exchange } = this.#facts;
    if (exchange.headersSent) return;
    if (this.#parts.draining()) exchange.shouldKeepAlive = false;
    const facts = this.#replyFacts();
    try {
      const passed = this.#parts.replies.passedOn(status, headers);
      this.#reply.begin(status, passed, addedHeaders(passed, facts), this.#parts.flushLater);
      this.#beginStreaming(this.#facts.startedAt + facts.duration);
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
      if (exchange.upgrade === undefined) throw new Error("the upgrade was not requested");
      exchange.upgrade.join(upgradeHeaders(headers, facts), connection, this.#parts.webSocketIdle);
      this.#upgradedAfter = facts.duration;
      this.deadline = this.#facts.lastMoment;
    } catch (err) {
      connection.destroy();
      this.#release();
      this.#refuseHead(err);
    }
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    const refusing = this.#replica;
    this.#release();
    // A head that was not sent yet is replaced by the error.
    if (!this.#reply.takeBack()) {
      this.#cut("replica");
    } else if (kind === "refused") {
      this.#routeElsewhere(refusing, err);
    } else if (kind === "malformed") {
      this.#refuseReply(brokenRule(err), err);
    } else {
      this.#fail("function_unreachable", publicly`the connection broke before the reply`, { cause: err });
    }
  }

  expire(now: number): void {
    const { exchange, limit } = this.#facts;
    if (this.#upgradedAfter !== undefined) return this.#cut("expired");
    if (this.#isStreaming) return this.#checkIdle(now);
    if (this.#upstreamCall !== undefined && exchange.headersSent) return this.#cut("timeout");
    this.#abort();
    if (exchange.headersSent) return void exchange.destroy();
    this.deadline = now + errorGrace;
    this.#fail("function_timeout", publicly`no reply within ${limit.timeoutName} of ${limit.timeout / 1_000} s`);
  }

  /** No event reports a call whose client ended its side while bytes were still unread. */
  isLost(): boolean {
    return this.#facts.exchange.isLost();
  }

  lose(): void {
    this.#facts.exchange.destroy();
    this.#close();
  }

  cut(): void {
    this.#cut("draining");
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
        return this.#fail("function_unreachable", publicly`the connection was refused`, { cause });
      default:
        return next satisfies never;
    }
  }

  #routeElsewhere(replica: ReadyReplica | undefined, cause: Error): void {
    const repeatable = !this.#closed && !isTouched(this.#body);
    this.#route({ replica, before: this.#refusals++, repeatable }, cause);
  }

  #wait(): void {
    this.#waitingSince ??= performance.now();
    this.deadline = Number.POSITIVE_INFINITY;
    this.#waiting = new AbortController();
    const after = (go: () => void): void => {
      this.#waiting = undefined;
      this.#waitedUntil = performance.now();
      if (!this.#closed && this.#cutReason === undefined) go();
    };
    const caller = waitingCaller(this.#facts.exchange, this.#waiting.signal);
    const ready = this.#parts.waker.wait(this.#facts.entry, { ...caller, since: this.#waitingSince });
    const failed = (err: unknown): void => after(() => this.#sendError(err));
    ready.then(() => after(() => this.#route()), failed);
  }

  #send(replica: ReadyReplica): void {
    const { limit, startedAt } = this.#facts;
    // Time spent waiting for a replica does not count against the limit.
    const began = this.#waitingSince === undefined ? startedAt : performance.now();
    if (this.deadline === Number.POSITIVE_INFINITY) this.deadline = began + limit.timeout;
    this.#replica = replica;
    this.#sentTo = replica.name;
    replica.inFlight += 1;
    const call = this.#parts.upstream.dispatch(replica.address, outgoingRequest(this.#facts, this.#body), this);
    if (this.#replica === replica) this.#upstreamCall = call;
  }

  /** A call's limit ends with the head of its reply; that of a queued run covers the whole reply. */
  #beginStreaming(now: number): void {
    if (this.#facts.exchange.head.fromWorker) return;
    this.#isStreaming = true;
    this.deadline = now + idleCheckPeriod(this.#parts.streamIdle);
  }

  #checkIdle(now: number): void {
    if (now >= this.#facts.lastMoment) return this.#cut("expired");
    const bytes = this.#reply.bytes + bytesOf(this.#body);
    this.#idleWatch ??= new StreamIdle(this.#parts.streamIdle, bytes, now);
    const next = this.#idleWatch.look(bytes, now);
    if (next === undefined) this.#cut("idle");
    else this.deadline = next;
  }

  /** Closes the client's connection, which is the only way left to report a failure. */
  #cut(reason: CutReason): void {
    this.#cutReason = reason;
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

  /** Ends the use of the replica. */
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

  /** Any error but a header that cannot be sent is a defect of the gateway. */
  #refuseHead(err: unknown): void {
    if (err instanceof UnsendableHeader)
      this.#refuseReply(publicly`its reply has a header that cannot be passed on`, err);
    else this.#sendError(err);
  }

  #refuseReply(why: PublicSentence, cause: unknown): void {
    this.#fail("bad_function_reply", why, { cause });
  }

  #fail(code: FailureCode, state: PublicSentence, options: { cause?: unknown; retryAfterSeconds?: number } = {}): void {
    this.#sendError(
      new PlatformError(code, publicly`Cannot call function ${named(this.#facts.entry.key)}: ${state}`, options),
    );
  }

  #sendError(err: unknown): void {
    const { exchange, callId, traceParent } = this.#facts;
    if (exchange.headersSent) return;
    // The rest of an unwanted body is not worth waiting for.
    if (this.#parts.draining() || (this.#facts.hasBody && !exchange.complete)) exchange.shouldKeepAlive = false;
    this.#isOwnError = true;
    this.#reply.bytes = this.#parts.writeError(exchange, err, { callId, traceParent, invocation: true });
  }

  /** The client has received the reply or is gone. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort();
    giveUp(this.#body);
    this.#parts.sweep.remove(this);
    const { exchange, counts, startedAt } = this.#facts;
    const bytes = this.#upgradedAfter === undefined ? undefined : exchange.upgrade;
    if (bytes?.idled === true) this.#cutReason = "idle";
    else if (exchange.unread) this.#cutReason ??= "unread";
    const status = (exchange.head.fromWorker ? endRunStatus : endStatus)(exchange, this.#cutReason);
    const now = performance.now();
    const duration = now - startedAt;
    const coldStart = this.#coldStart();
    // A client that sends no whole request must not scale a function up.
    const isWhole = exchange.complete || exchange.headersSent;
    counts.finish(now, status, this.#upgradedAfter ?? duration, coldStart !== undefined, isWhole);
    this.#parts.observer.ended(this.#facts, {
      status,
      duration,
      bytesIn: bytes?.bytesIn ?? bytesOf(this.#body),
      bytesOut: bytes?.bytesOut ?? this.#reply.bytes,
      cut: this.#cutReason,
      isOwnError: this.#isOwnError,
      replica: this.#sentTo,
      coldStart,
    });
  }

  /** Milliseconds that it waited for replicas; undefined if it did not. */
  #coldStart(): number | undefined {
    if (this.#waitingSince === undefined) return undefined;
    return (this.#waitedUntil ?? performance.now()) - this.#waitingSince;
  }
}
