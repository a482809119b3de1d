import { HeadCache } from "./head-cache.ts";

const headEnd = Buffer.from("\r\n\r\n");
/** Bytes that are part of no line. */
const control = /[^\t\r\x20-\x7e\x80-\xff]/;

/** The head of a message, read line by line; `Fault` says what is wrong with it. */
export interface HeadText<Fault> {
  /**
   * Reads `text`, which ends with a line's end. Gives where in it the body begins, -1 while the head goes on, or what is
   * wrong with it.
   */
  read(text: string): number | Fault;
  /** Whether nothing but `text` was read of it, and all of it came: then the same text is the same head. */
  readonly memorable: boolean;
}

/** What heads of one kind have in common. */
export interface HeadKind<Head extends HeadText<Fault>, Fault> {
  /** Bytes of the longest. */
  readonly limit: number;
  create(): Head;
  /** Whether `text`, which has no line's end yet, may become the first line. */
  mayBegin(text: string): boolean;
  readonly faults: { readonly tooLong: Fault; readonly control: Fault; readonly firstLine: Fault };
}

/** Collects a head from whatever pieces it comes in; one character per byte. */
export class HeadPieces<Head extends HeadText<Fault>, Fault> {
  /** Whole once `read` gave where the body begins. */
  head: Head;
  readonly #kind: HeadKind<Head, Fault>;
  readonly #memory: HeadCache<Head>;
  /** Of a line whose end did not come yet. */
  #held = "";
  #size = 0;
  #hasLine = false;

  constructor(kind: HeadKind<Head, Fault>, memory: HeadCache<Head> = new HeadCache()) {
    this.#kind = kind;
    this.#memory = memory;
    this.head = kind.create();
  }

  /** Whether a part of a head has come. */
  get begun(): boolean {
    return this.#size > 0;
  }

  /** Another head is to come. */
  begin(): void {
    this.#held = "";
    this.#size = 0;
    this.#hasLine = false;
  }

  /** Reads on in `bytes` from `at`. Gives where the body begins, -1 while the head goes on, or what is wrong with it. */
  read(bytes: Buffer, at: number): number | Fault {
    const { limit, faults } = this.#kind;
    const found = bytes.indexOf(headEnd, at);
    const end = found === -1 ? bytes.length : found + headEnd.length;
    const fresh = this.#size === 0;
    const piece = bytes.toString("latin1", at, Math.min(end, at + limit + 1 - this.#size));
    if (fresh && found !== -1) {
      const known = this.#memory.recall(piece);
      if (known !== undefined) {
        this.head = known;
        return end;
      }
    }
    if (fresh) this.head = this.#kind.create();
    this.#size += piece.length;
    const cut = piece.lastIndexOf("\n") + 1;
    if (cut > 0) {
      const before = this.#held.length;
      const text = before === 0 ? piece.slice(0, cut) : this.#held + piece.slice(0, cut);
      const read = this.head.read(text);
      if (typeof read !== "number") return read;
      if (read !== -1) {
        if (this.#size - piece.length + read - before > limit) return faults.tooLong;
        if (fresh && read === piece.length && this.head.memorable) this.#memory.keep(piece, this.head);
        return at + read - before;
      }
      this.#held = "";
      this.#hasLine = true;
    }
    if (this.#size > limit) return faults.tooLong;
    const rest = piece.slice(cut);
    this.#held += rest;
    if (control.test(rest)) return faults.control;
    return this.#hasLine || this.#kind.mayBegin(this.#held) ? -1 : faults.firstLine;
  }
}
