/** What `HeldOutput` depends on. */
export interface HeldOutputParts {
  readonly send: (chunk: Buffer) => void;
  /** Whether the process seems to be a server; called only if it still runs some time after its first output. */
  readonly seemsServer: () => Promise<boolean>;
}

/** Bytes; more output is not a server's greeting. */
const maxGreeting = 4_096;
/** Milliseconds for which the first output is held: most programs have ended by then. */
const holdTime = 10;

/**
 * Passes the output of a process on, but holds what it writes first while that may be a server's greeting: once sent,
 * it is the response.
 */
export class HeldOutput {
  readonly #parts: HeldOutputParts;
  readonly #held: Buffer[] = [];
  #size = 0;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: HeldOutputParts) {
    this.#parts = parts;
  }

  add(chunk: Buffer): void {
    if (this.#isOpen) {
      this.#parts.send(chunk);
      return;
    }
    this.#held.push(chunk);
    this.#size += chunk.length;
    if (this.#size > maxGreeting) this.release();
    else this.#timer ??= setTimeout(() => void this.#look(), holdTime);
  }

  /** Sends what is held, and later output as it comes. */
  release(): void {
    clearTimeout(this.#timer);
    this.#isOpen = true;
    for (const chunk of this.#held.splice(0)) this.#parts.send(chunk);
  }

  async #look(): Promise<void> {
    if (!(await this.#parts.seemsServer())) this.release();
  }
}
