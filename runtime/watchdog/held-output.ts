/** What holding output back works with. */
export interface HeldOutputParts {
  readonly send: (chunk: Buffer) => void;
  /** Whether the process seems to be a server; asked only of one that goes on after its first output. */
  readonly seemsServer: () => Promise<boolean>;
}

/** Bytes; more is no greeting of a server. */
const most = 4_096;
/** Milliseconds for which the first output is held: most programs have ended by then. */
const patience = 10;

/**
 * Passes the output of a process on, but holds what it writes first while it may be the greeting of a server: once it has
 * left, it is the answer.
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
    if (this.#size > most) this.release();
    else this.#timer ??= setTimeout(() => void this.#look(), patience);
  }

  /** Sends what is held, and the rest as it comes. */
  release(): void {
    clearTimeout(this.#timer);
    this.#isOpen = true;
    for (const chunk of this.#held.splice(0)) this.#parts.send(chunk);
  }

  async #look(): Promise<void> {
    if (!(await this.#parts.seemsServer())) this.release();
  }
}
