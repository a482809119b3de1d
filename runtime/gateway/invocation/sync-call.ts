import { PlatformError } from "../../api/platform-error.ts";
import { pickReplica, type ReadyReplica } from "../../core/function-table.ts";
import type { UpstreamCall, UpstreamListener } from "../../core/ports/upstream.ts";
import type { Deadlined } from "./deadline-sweep.ts";
import type { Unsent } from "./flush-later.ts";
import { clientLeftStatus } from "./invocation-counts.ts";
import { replyHeaders } from "./reply-headers.ts";
import { RequestBody } from "./request-body.ts";
import type { SyncCallFacts, SyncCallParts } from "./sync-call-parts.ts";

/** Time a client has for reading the error that ended its call; then its connection is cut. */
const errorGrace = 5_000;

/** Up to this many bytes a body is joined with its head. */
const joinedBody = 16_384;

const nothing = new Uint8Array(0);

/** One synchronous call under way, from the pick of a replica to the last byte read by the client. */
export class SyncCall implements UpstreamListener, Deadlined, Unsent {
  deadline = Number.POSITIVE_INFINITY;
  slot = -1;
  readonly #parts: SyncCallParts;
  readonly #facts: SyncCallFacts;
  readonly #body: RequestBody | null;
  readonly #startedAt = performance.now();
  #replica: ReadyReplica | undefined;
  #upstreamCall: UpstreamCall | undefined;
  #waiting: AbortController | undefined;
  #retried = false;
  /** The head, or head and first bytes, wait for the rest of this turn of the event loop. */
  #unsent = false;
  #held: Uint8Array | undefined;
  #drainAwaited = false;
  #closed = false;

  constructor(parts: SyncCallParts, facts: SyncCallFacts) {
    this.#parts = parts;
    this.#facts = facts;
    this.#body = facts.hasBody ? new RequestBody(facts.request) : null;
  }

  /** Sends the call to a replica, waking the function first if need be. Everything else happens by events. */
  start(): void {
    const { response, counts } = this.#facts;
    counts.begin();
    this.#parts.sweep.add(this);
    response.on("close", () => this.#close());
    this.#route();
  }

  onHead(status: number, headers: readonly string[]): void {
    const { response, callId, startTime } = this.#facts;
    if (response.headersSent) return;
    if (this.#parts.draining()) response.shouldKeepAlive = false;
    const duration = performance.now() - this.#startedAt;
    try {
      response.writeHead(status, replyHeaders(headers, { callId, startTime, duration }));
    } catch (cause) {
      this.#abort();
      this.#fail("bad_function_reply", "its reply has a header that cannot be passed on", { cause });
      return;
    }
    this.#unsent = true;
    this.#parts.flushLater.add(this);
  }

  onData(chunk: Uint8Array): boolean {
    if (this.#unsent && this.#held === undefined) {
      this.#held = chunk;
      return true;
    }
    this.flush();
    if (this.#facts.response.write(chunk)) return true;
    this.#awaitDrain();
    return false;
  }

  flush(): void {
    if (!this.#unsent) return;
    this.#unsent = false;
    const { response } = this.#facts;
    // Not by flushHeaders(), which would encode bytes of header values above 127 as UTF-8.
    response.write(this.#held ?? nothing);
    this.#held = undefined;
  }

  onEnd(): void {
    const { request, response } = this.#facts;
    this.#release();
    if (response.writableEnded) return;
    // A function that answers without reading the rest does not oblige us to read it either.
    if (!request.complete) response.once("finish", () => request.socket.destroySoon());
    this.#unsent = false;
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) response.end();
    // Node joins a head and a string into one write; a buffer beside the head costs a second piece and `writev`.
    else if (held.byteLength <= joinedBody) response.end(latin1(held), "latin1");
    else response.end(held);
  }

  onError(kind: "refused" | "reset" | "malformed", err: Error): void {
    const { response } = this.#facts;
    const refusing = this.#replica;
    this.#release();
    if (response.headersSent) {
      response.destroy();
    } else if (kind === "refused" && this.#retry(refusing)) {
      return;
    } else if (kind === "malformed") {
      this.#fail("bad_function_reply", "its reply breaks the rules of HTTP", { cause: err });
    } else {
      const why = kind === "refused" ? "the connection was refused" : "the connection broke before the reply";
      this.#fail("function_unreachable", why, { cause: err });
    }
  }

  expire(now: number): void {
    const { response, limits } = this.#facts;
    this.#abort();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    this.deadline = now + errorGrace;
    this.#fail("function_timeout", `no reply within ${limits.timeoutName} of ${limits.timeout / 1_000} s`);
  }

  /** A call that was pipelined behind another hears nothing when its client leaves. */
  isLost(): boolean {
    return this.#facts.request.socket.destroyed;
  }

  lose(): void {
    this.#close();
  }

  #route(): void {
    const { entry, limits } = this.#facts;
    const replica = pickReplica(entry, limits.concurrencyMax);
    if (replica !== undefined) {
      this.#send(replica);
    } else if (entry.replicas.length > 0) {
      const state = `all ${entry.replicas.length} ready replicas are at concurrency.max of ${limits.concurrencyMax}`;
      this.#fail("too_many_calls", state, { retryAfterSeconds: 1 });
    } else {
      this.#wait();
    }
  }

  #wait(): void {
    this.#waiting = new AbortController();
    this.#parts.waker.wait(this.#facts.entry, this.#waiting.signal).then(
      () => {
        this.#waiting = undefined;
        if (!this.#closed) this.#route();
      },
      (err: unknown) => {
        this.#waiting = undefined;
        if (!this.#closed) this.#answer(err);
      },
    );
  }

  #send(replica: ReadyReplica): void {
    const { request, target, headers, limits } = this.#facts;
    if (this.deadline === Number.POSITIVE_INFINITY) this.deadline = performance.now() + limits.timeout;
    this.#replica = replica;
    replica.inFlight += 1;
    const outgoing = { method: request.method ?? "GET", target, headers, body: this.#body };
    const call = this.#parts.upstream.dispatch(replica.address, outgoing, this);
    if (this.#replica === replica) this.#upstreamCall = call;
  }

  /** Once, elsewhere, and only if nothing of the body was consumed. */
  #retry(refusing: ReadyReplica | undefined): boolean {
    if (this.#retried || this.#closed || this.#body?.consumed === true || this.#body?.destroyed === true) return false;
    this.#retried = true;
    const other = pickReplica(this.#facts.entry, this.#facts.limits.concurrencyMax, refusing);
    if (other === undefined) return false;
    this.#send(other);
    return true;
  }

  #awaitDrain(): void {
    if (this.#drainAwaited) return;
    this.#drainAwaited = true;
    this.#facts.response.once("drain", () => {
      this.#drainAwaited = false;
      this.#upstreamCall?.resume();
    });
  }

  #abort(): void {
    this.#waiting?.abort();
    if (this.#replica === undefined) return;
    this.#release()?.abort();
  }

  /** The exchange with the replica is over. */
  #release(): UpstreamCall | undefined {
    const call = this.#upstreamCall;
    if (this.#replica !== undefined) this.#replica.inFlight -= 1;
    this.#replica = undefined;
    this.#upstreamCall = undefined;
    return call;
  }

  #fail(code: FailureCode, state: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}): void {
    this.#answer(new PlatformError(code, `Cannot call function "${this.#facts.entry.key}": ${state}`, options));
  }

  #answer(err: unknown): void {
    const { request, response, callId } = this.#facts;
    if (response.headersSent) return;
    // What is left of a body that nobody wants is not worth waiting for.
    if (this.#parts.draining() || (this.#facts.hasBody && !request.complete)) response.shouldKeepAlive = false;
    this.#parts.writeError(request, response, err, { callId, invocation: true });
  }

  /** The reply was read by the client, or the client is gone. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort();
    this.#body?.destroy();
    this.#parts.sweep.remove(this);
    const { response, counts } = this.#facts;
    counts.finish(response.headersSent ? response.statusCode : clientLeftStatus, performance.now() - this.#startedAt);
  }
}

/** Each byte as one character: what Node writes of it as latin1 are the same bytes. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

type FailureCode = "bad_function_reply" | "function_unreachable" | "function_timeout" | "too_many_calls";
