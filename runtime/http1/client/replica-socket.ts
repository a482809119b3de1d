import { Socket } from "node:net";

type Done = (err?: Error | null) => void;

/**
 * A connection that can still be read when a write fails. A replica may reply and close its connection without having
 * read the whole request: its reply has arrived by then, and Node.js would drop it with the failed write.
 */
export class ReplicaSocket extends Socket {
  /** Called when a write fails; nothing more is sent then. Absent: the socket is destroyed. */
  onSendFailed: ((err: Error) => void) | undefined;
  #failed = false;

  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    if (this.#failed) done();
    else super._write(chunk, encoding, (err) => this.#onWritten(err, done));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    if (this.#failed) done();
    else super._writev?.(chunks, (err) => this.#onWritten(err, done));
  }

  #onWritten(err: Error | null | undefined, done: Done): void {
    if (err === undefined || err === null || this.onSendFailed === undefined) return done(err);
    this.#failed = true;
    this.onSendFailed(err);
    done();
  }
}
