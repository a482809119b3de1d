import { HeadCache } from "./head-cache.ts";

const headEnd = Buffer.from("\r\n\r\n");
/** Bytes that no line may contain. */
const control = /[^\t\r\x20-\x7e\x80-\xff]/;

/** The head of a message, parsed line by line; `Fault` says what is wrong with it. */
export interface HeadText<Fault> {
  /**
   * Parses `text`, which ends with a line's end. Returns the offset in it where the body begins, -1 while the head is
   * incomplete, or the fault.
   */
  read(text: string): number | Fault;
  /** Whether it may be cached: if one text held all of it, the same text is the same head. */
  readonly cacheable: boolean;
}

/** How heads of one kind are created, bounded and refused. */
export interface HeadKind<Head extends HeadText<Fault>, Fault> {
  /** Most bytes of a head. */
  readonly limit: number;
  create(): Head;
  /** Whether `text`, which does not contain a line's end yet, may become the first line. */
  mayBegin(text: string): boolean;
  readonly faults: { readonly tooLong: Fault; readonly control: Fault; readonly firstLine: Fault };
}

/** Assembles a head, however its bytes are split; one character per byte. */
export class HeadAssembler<Head extends HeadText<Fault>, Fault> {
  /** Complete once `read` returned where the body begins. */
  head: Head;
  readonly #kind: HeadKind<Head, Fault>;
  readonly #cache: HeadCache<Head>;
  /** The part of a line that arrived before its end. */
  #partialLine = "";
  #size = 0;
  #hasLine = false;

  constructor(kind: HeadKind<Head, Fault>, cache: HeadCache<Head> = new HeadCache()) {
    this.#kind = kind;
    this.#cache = cache;
    this.head = kind.create();
  }

  /** Whether part of a head has arrived. */
  get begun(): boolean {
    return this.#size > 0;
  }

  /** Starts the next head. */
  begin(): void {
    this.#partialLine = "";
    this.#size = 0;
    this.#hasLine = false;
  }

  /** Reads `bytes` from `at`. Returns where the body begins, -1 while the head is incomplete, or the fault. */
  read(bytes: Buffer, at: number): number | Fault {
    const { limit, faults } = this.#kind;
    const found = bytes.indexOf(headEnd, at);
    const end = found === -1 ? bytes.length : found + headEnd.length;
    const fresh = this.#size === 0;
    const piece = bytes.toString("latin1", at, Math.min(end, at + limit + 1 - this.#size));
    if (fresh && found !== -1) {
      const cached = this.#cache.find(piece);
      if (cached !== undefined) {
        this.head = cached;
        return end;
      }
    }
    if (fresh) this.head = this.#kind.create();
    this.#size += piece.length;
    const linesEnd = piece.lastIndexOf("\n") + 1;
    if (linesEnd > 0) {
      const before = this.#partialLine.length;
      const text = before === 0 ? piece.slice(0, linesEnd) : this.#partialLine + piece.slice(0, linesEnd);
      const read = this.head.read(text);
      if (typeof read !== "number") return read;
      if (read !== -1) {
        if (this.#size - piece.length + read - before > limit) return faults.tooLong;
        if (fresh && read === piece.length && this.head.cacheable) this.#cache.store(piece, this.head);
        return at + read - before;
      }
      this.#partialLine = "";
      this.#hasLine = true;
    }
    if (this.#size > limit) return faults.tooLong;
    const rest = piece.slice(linesEnd);
    this.#partialLine += rest;
    if (control.test(rest)) return faults.control;
    return this.#hasLine || this.#kind.mayBegin(this.#partialLine) ? -1 : faults.firstLine;
  }
}
