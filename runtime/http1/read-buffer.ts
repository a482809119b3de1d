import { releaseBuffer } from "#release-buffer";

/** Ends what `KeepBytes` began; a second call does nothing. */
export type ReleaseBytes = () => void;

/** Keeps the bytes that were just read from being read over, until what it returns is called. */
type KeepBytes = () => ReleaseBytes;

const sharedSize = 65_536;
const ownSize = 131_072;
/** Buffers that are kept for the next connection that needs one of its own. */
const mostIdle = 32;

/** What connections read to that expect little. Who hears of bytes in it copies them before it returns. */
const shared = Buffer.allocUnsafeSlow(sharedSize);
const idle: Buffer[] = [];

/** A buffer that a connection reads to, and that those who keep bytes of it hold together with the connection. */
class OwnBuffer {
  readonly bytes: Buffer = idle.pop() ?? Buffer.allocUnsafeSlow(ownSize);
  #holders = 1;

  /** Whether somebody beside the connection holds it. */
  get kept(): boolean {
    return this.#holders > 1;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    releaseBuffer(this.bytes);
    if (idle.length < mostIdle) idle.push(this.bytes);
  }

  keep(): ReleaseBytes {
    this.hold();
    let held = true;
    return () => {
      if (held) this.release();
      held = false;
    };
  }
}

/**
 * Where a connection reads to (`security.md` H11). While little is expected, all connections share one buffer: what is read
 * is copied, or made text, before the reader returns. While more is expected than fits there, it is a buffer of the
 * connection's own, which whoever writes it on may keep until the write's callback; the connection reads to another one until
 * then. A buffer that nobody releases is never used again.
 */
export class ReadBuffer {
  #started = false;
  #own: OwnBuffer | undefined;

  /** Where the next read goes with `expected` bytes to come; undefined: where the last one went. */
  next(expected: number): Buffer | undefined {
    const first = !this.#started;
    this.#started = true;
    if (expected <= sharedSize) {
      if (!first && this.#own === undefined) return undefined;
      this.close();
      return shared;
    }
    if (this.#own?.kept === false) return undefined;
    this.close();
    this.#own = new OwnBuffer();
    return this.#own.bytes;
  }

  /** Lets `hear` hear of `bytes`, which were read last. Bytes that nobody keeps by then are given back. */
  read(bytes: Buffer, hear: (bytes: Buffer) => void): void {
    const own = this.#own;
    own?.hold();
    hear(bytes);
    own?.release();
    if (own === undefined || (own === this.#own && !own.kept)) releaseBuffer(bytes);
  }

  /** Keeps what is being read; undefined when it lies in the buffer that all share. */
  get keep(): KeepBytes | undefined {
    const own = this.#own;
    return own === undefined ? undefined : () => own.keep();
  }

  /** Nothing more is read to it; what is kept stays as it is. */
  close(): void {
    this.#own?.release();
    this.#own = undefined;
  }
}
