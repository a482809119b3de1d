import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, extname, join, parse } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { markDamaged } from "../database/sqlite-damage.ts";
import type { LogReadRequest, ReaderMessage, ReadRequest } from "./reader-messages.ts";

export interface ReaderProcessOptions {
  readonly file: string;
  /** Milliseconds that one read may take. */
  readonly limit: number;
  /** Milliseconds for which a read may wait for those before it. */
  readonly patience: number;
  readonly onDamaged?: ((sentence: string) => void) | undefined;
  /** Path of the program that reads; that of the history of calls when absent. */
  readonly program?: string;
}

interface PendingRead {
  readonly request: ReadRequest | LogReadRequest;
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (err: Error) => void;
}

const callReader = join(import.meta.dirname, `reader${extname(import.meta.filename)}`);

/**
 * Reads in a child process, one request at a time in their order. A statement that runs cannot be interrupted, so a
 * read over the limit is killed with its process, and the next process is started at once.
 */
export class ReaderProcess {
  readonly #options: ReaderProcessOptions;
  readonly #waiting: PendingRead[] = [];
  #child: ChildProcess | undefined;
  #isReady = false;
  #current: (PendingRead & { readonly timer: NodeJS.Timeout }) | undefined;
  #isClosed = false;
  /** Compiled code of the program, beside the file. */
  readonly #codeCache: string;
  #isCompiled: boolean;

  constructor(options: ReaderProcessOptions) {
    this.#options = options;
    this.#codeCache = join(dirname(options.file), `${parse(options.program ?? callReader).name}-code`);
    this.#isCompiled = existsSync(this.#codeCache);
    this.#start();
  }

  /** Of the child that runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Rejects with PlatformError `history_unavailable`. */
  ask(request: ReadRequest | LogReadRequest): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(unavailable("it is closed"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, since: performance.now(), resolve, reject });
      if (this.#child === undefined) this.#start();
      this.#next();
    });
  }

  /** Rejects what waits, and resolves when the child has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    this.#child = undefined;
    this.#settle((read) => read.reject(unavailable("it is closed")));
    this.#rejectWaiting("it is closed");
    if (child !== undefined) await killed(child);
  }

  #start(): void {
    const child = fork(this.#options.program ?? callReader, [this.#options.file], {
      execArgv: process.execArgv,
      env: { NODE_COMPILE_CACHE: this.#codeCache },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child = child;
    this.#isReady = false;
    child.on("message", (message: ReaderMessage) => {
      if (child === this.#child) this.#receive(message);
    });
    child.once("error", () => this.#ended(child));
    child.once("exit", () => this.#ended(child));
  }

  #receive(message: ReaderMessage): void {
    switch (message.kind) {
      case "ready":
        // With compiled code it starts in a third of the time, and takes 30 MB less: the first child only compiles.
        if (this.#isCompiled) this.#isReady = true;
        else this.#replace();
        this.#isCompiled = true;
        break;
      case "result":
        this.#settle((read) => read.resolve(message.value));
        break;
      case "failure":
        this.#settle((read) => read.reject(unavailable(message.reason)));
        if (message.isDamage) this.#reportDamage(message.reason);
        break;
      case "unusable":
        this.#drop();
        this.#rejectWaiting(message.reason);
        if (message.isDamage) this.#reportDamage(message.reason);
        break;
      default:
        message satisfies never;
    }
    this.#next();
  }

  #next(): void {
    if (!this.#isReady || this.#current !== undefined) return;
    const read = this.#waiting.shift();
    if (read === undefined) return;
    if (performance.now() - read.since > this.#options.patience) {
      read.reject(unavailable("too many reads wait"));
      this.#next();
      return;
    }
    this.#current = { ...read, timer: setTimeout(() => this.#stopRead(), this.#options.limit) };
    // Its exit says more than a failed send.
    this.#child?.send(read.request, () => {});
  }

  #stopRead(): void {
    this.#replace();
    this.#settle((read) => read.reject(unavailable(`it took longer than ${this.#options.limit} ms`)));
  }

  #replace(): void {
    this.#drop();
    this.#start();
  }

  #drop(): void {
    const child = this.#child;
    this.#child = undefined;
    this.#isReady = false;
    if (child !== undefined) void killed(child);
  }

  #ended(child: ChildProcess): void {
    if (child !== this.#child) return;
    const wasReady = this.#isReady;
    this.#child = undefined;
    this.#isReady = false;
    this.#settle((read) => read.reject(unavailable("its reader ended")));
    // One that cannot start would be started over and over: the next read tries again.
    if (wasReady) this.#start();
    else this.#rejectWaiting("its reader cannot start");
  }

  #settle(settle: (read: PendingRead) => void): void {
    const read = this.#current;
    if (read === undefined) return;
    this.#current = undefined;
    clearTimeout(read.timer);
    settle(read);
  }

  #rejectWaiting(reason: string): void {
    for (const read of this.#waiting.splice(0)) read.reject(unavailable(reason));
  }

  #reportDamage(reason: string): void {
    const { file, onDamaged } = this.#options;
    markDamaged(file, reason);
    onDamaged?.(`Cannot use file "${file}": ${reason}`);
  }
}

function unavailable(reason: string): PlatformError {
  return new PlatformError("history_unavailable", `Cannot read history: ${reason}`);
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGKILL");
  await ended;
}
