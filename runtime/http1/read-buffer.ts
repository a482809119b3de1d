import { releaseBuffer } from "#release-buffer";

/** Releases what `KeepBytes` kept; a second call does nothing. */
export type ReleaseBytes = () => void;

/** Keeps the bytes that were just read from being overwritten, until the returned function is called. */
type KeepBytes = () => ReleaseBytes;

const sharedSize = 65_536;
const ownSize = 131_072;
/** Most unused buffers that are kept for the next connections that need their own. */
const maxIdle = 32;

/** Read buffer of all connections that expect little. A listener copies its bytes before it returns. */
const shared = Buffer.allocUnsafeSlow(sharedSize);
const idle: Buffer[] = [];

/** A connection's own read buffer, held by the connection and by every listener that keeps bytes of it. */
class OwnBuffer {
  readonly bytes: Buffer = idle.pop() ?? Buffer.allocUnsafeSlow(ownSize);
  #holders = 1;

  /** Whether it has a holder besides the connection. */
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
    if (idle.length < maxIdle) idle.push(this.bytes);
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
 * Where a connection reads to (`security.md` H11). While little is expected, all connections share one buffer: bytes
 * are copied, or turned into text, before the listener returns. While more is expected than fits there, the connection
 * has its own buffer. A listener that writes the bytes on may keep it until the write's callback; until then the
 * connection reads to another one. A buffer that is never released is never used again.
 */
export class ReadBuffer {
  #started = false;
  #own: OwnBuffer | undefined;

  /** The buffer for the next read, with `expected` bytes to come; undefined = the same as for the last read. */
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

  /** Passes `bytes`, which were read last, to `listener`. Bytes that are not kept when it returns are released. */
  read(bytes: Buffer, listener: (bytes: Buffer) => void): void {
    const own = this.#own;
    own?.hold();
    listener(bytes);
    own?.release();
    if (own === undefined || (own === this.#own && !own.kept)) releaseBuffer(bytes);
  }

  /** Keeps the bytes that are being read; undefined when they are in the shared buffer. */
  get keep(): KeepBytes | undefined {
    const own = this.#own;
    return own === undefined ? undefined : () => own.keep();
  }

  /** Ends reading; bytes that are kept stay valid. */
  close(): void {
    this.#own?.release();
    this.#own = undefined;
  }
}
