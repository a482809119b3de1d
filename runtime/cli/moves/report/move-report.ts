/** What became of one field of a file. */
export type MoveRow = {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Its path, as in `functions.hello.image` or `Function hello: spec.image`. */
  readonly field: string;
} & MoveOutcome;

type MoveOutcome =
  | { readonly result: "same"; readonly note?: string }
  /** `to` is a path in what is written, or `nothing`. */
  | { readonly result: "translated"; readonly to: string; readonly note?: string }
  | { readonly result: "not supported"; readonly why: string; readonly instead?: string };

/** A field, and where its value begins: an offset in the file. */
export interface FieldPlace {
  readonly field: string;
  readonly at: number;
}

/** Collects the rows of one file. */
export class MoveReport {
  readonly rows: MoveRow[] = [];
  readonly #file: string;
  readonly #text: string;
  /** Line and end of what was counted; fields come in their order, mostly. */
  #counted = { line: 1, at: 0 };

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /** It is written under the name that it had, or under the name `to`. */
  kept(place: FieldPlace, name: string, to: string, note?: string): void {
    const noted = note === undefined ? {} : { note };
    this.#add(place, name === to ? { result: "same", ...noted } : { result: "translated", to, ...noted });
  }

  /** It is not written, and need not be. */
  dropped(place: FieldPlace, note: string): void {
    this.#add(place, { result: "translated", to: "nothing", note });
  }

  refused(place: FieldPlace, why: string, instead?: string): void {
    this.#add(place, { result: "not supported", why, ...(instead === undefined ? {} : { instead }) });
  }

  #add({ field, at }: FieldPlace, outcome: MoveOutcome): void {
    this.rows.push({ file: this.#file, line: this.#lineOf(at), field, ...outcome });
  }

  #lineOf(at: number): number {
    let { line, at: from } = at < this.#counted.at ? { line: 1, at: 0 } : this.#counted;
    for (let next = this.#text.indexOf("\n", from); next >= 0 && next < at; next = this.#text.indexOf("\n", from)) {
      line += 1;
      from = next + 1;
    }
    this.#counted = { line, at: from };
    return line;
  }
}
