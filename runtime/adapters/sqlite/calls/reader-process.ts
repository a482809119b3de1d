import type { ChildProcess } from "node:child_process";
import { extname, join } from "node:path";

import type { LogReadRequest, ReaderMessage, ReadRequest } from "./reader-messages.ts";
import { killReader, ReaderProgram } from "./reader-program.ts";
import { reportDamagedFile, unreadableHistory, type WatchedFile } from "./unreadable-history.ts";

export interface ReaderProcessOptions extends WatchedFile {
  /** Milliseconds that one read may take. */
  readonly limit: number;
  /** Milliseconds for which a read may wait for those before it, from when the child can be asked. */
  readonly patience: number;
  /** Milliseconds that a child has until it can be asked (ten times `limit`). */
  readonly startLimit?: number;
  /** Milliseconds without a read after which the child ends (60 s). */
  readonly idleTimeout?: number | undefined;
  /** Path of the program that reads; that of the history of calls when absent. */
  readonly program?: string;
}

interface PendingRead {
  readonly request: ReadRequest | LogReadRequest;
  /** Monotonic milliseconds. */
  since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (err: Error) => void;
}

const callReader = join(import.meta.dirname, `reader${extname(import.meta.filename)}`);
const usualIdleTimeout = 60_000;

/**
 * Reads in a child process, one request at a time in their order. The child starts with the first read and ends after a
 * while without one. A statement that runs cannot be interrupted, so a read over the limit is killed with its process,
 * and the next process is started at once.
 */
export class ReaderProcess {
  readonly #options: ReaderProcessOptions;
  readonly #program: ReaderProgram;
  readonly #waiting: PendingRead[] = [];
  #child: ChildProcess | undefined;
  #isReady = false;
  /** The child is started as the one before was killed for a read that took too long. */
  #replacesAnother = false;
  #startTimer: NodeJS.Timeout | undefined;
  #current: (PendingRead & { readonly timer: NodeJS.Timeout }) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReaderProcessOptions) {
    this.#options = options;
    this.#program = new ReaderProgram(options.program ?? callReader, options.file);
    // The first read shall not wait for it.
    if (!this.#program.isCompiled) this.#start();
  }

  /** Of the child that runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Rejects with PlatformError `history_unavailable`. */
  ask(request: ReadRequest | LogReadRequest): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(unreadableHistory("it is closed"));
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, since: performance.now(), resolve, reject });
      if (this.#child === undefined) this.#start();
      this.#next();
    });
  }

  /** Rejects what waits, and resolves when the child has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#startTimer);
    const child = this.#child;
    this.#child = undefined;
    this.#settle((read) => read.reject(unreadableHistory("it is closed")));
    this.#rejectWaiting("it is closed");
    if (child !== undefined) await killReader(child);
  }

  #start(): void {
    const child = this.#program.start();
    this.#child = child;
    this.#isReady = false;
    this.#replacesAnother = false;
    const { limit, startLimit = 10 * limit } = this.#options;
    this.#startTimer = setTimeout(() => this.#stopStart(startLimit), startLimit).unref();
    child.on("message", (message: ReaderMessage) => {
      if (child === this.#child) this.#receive(message);
    });
    child.once("error", () => this.#ended(child));
    child.once("exit", () => this.#ended(child));
  }

  #receive(message: ReaderMessage): void {
    switch (message.kind) {
      case "ready":
        this.#becomeReady();
        break;
      case "result":
        this.#settle((read) => read.resolve(message.value));
        break;
      case "failure":
        this.#settle((read) => read.reject(unreadableHistory(message.reason)));
        if (message.isDamage) reportDamagedFile(this.#options, message.reason);
        break;
      case "unusable":
        this.#drop();
        this.#rejectWaiting(message.reason);
        if (message.isDamage) reportDamagedFile(this.#options, message.reason);
        break;
      default:
        message satisfies never;
    }
    this.#next();
  }

  /** The first child only compiles. */
  #becomeReady(): void {
    if (this.#program.isCompiled) {
      clearTimeout(this.#startTimer);
      this.#isReady = true;
      // The start has its own limit; on a busy machine it takes longer than reads may wait for others.
      if (!this.#replacesAnother) for (const read of this.#waiting) read.since = performance.now();
      return;
    }
    this.#program.noteCompiled();
    this.#drop();
    if (this.#waiting.length > 0) this.#start();
  }

  #next(): void {
    if (!this.#isReady || this.#current !== undefined) return;
    const read = this.#waiting.shift();
    if (read === undefined) {
      this.#endWhenIdle();
      return;
    }
    if (performance.now() - read.since > this.#options.patience) {
      read.reject(unreadableHistory("too many reads wait"));
      this.#next();
      return;
    }
    this.#current = { ...read, timer: setTimeout(() => this.#stopRead(), this.#options.limit) };
    // Its exit says more than a failed send.
    this.#child?.send(read.request, () => {});
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#drop(), this.#options.idleTimeout ?? usualIdleTimeout).unref();
  }

  #stopRead(): void {
    this.#drop();
    this.#start();
    this.#replacesAnother = true;
    this.#settle((read) => read.reject(unreadableHistory(`it took longer than ${this.#options.limit} ms`)));
  }

  /** The next read tries again. */
  #stopStart(startLimit: number): void {
    this.#drop();
    this.#rejectWaiting(`its reader did not start within ${startLimit} ms`);
  }

  #drop(): void {
    clearTimeout(this.#startTimer);
    const child = this.#child;
    this.#child = undefined;
    this.#isReady = false;
    if (child !== undefined) void killReader(child);
  }

  #ended(child: ChildProcess): void {
    if (child !== this.#child) return;
    const wasReady = this.#isReady;
    clearTimeout(this.#startTimer);
    this.#child = undefined;
    this.#isReady = false;
    this.#settle((read) => read.reject(unreadableHistory("its reader ended")));
    // One that cannot start would be started over and over: the next read tries again.
    if (!wasReady) this.#rejectWaiting("its reader cannot start");
    else if (this.#waiting.length > 0) this.#start();
  }

  #settle(settle: (read: PendingRead) => void): void {
    const read = this.#current;
    if (read === undefined) return;
    this.#current = undefined;
    clearTimeout(read.timer);
    settle(read);
  }

  #rejectWaiting(reason: string): void {
    for (const read of this.#waiting.splice(0)) read.reject(unreadableHistory(reason));
  }
}
