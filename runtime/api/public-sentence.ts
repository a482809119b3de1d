import { formatDuration } from "./duration.ts";

/** What a name of the platform looks like: no path, address or sentence does. */
const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * Text that anyone may read, even without credentials. Text of a function, its container, a library or a file cannot get
 * into one by accident: strings do not fit into it, only numbers, names and other public sentences.
 */
export class PublicSentence {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  static of(texts: TemplateStringsArray, ...parts: readonly (number | PublicSentence)[]): PublicSentence {
    return new PublicSentence(String.raw({ raw: texts }, ...parts));
  }

  static named(text: string): PublicSentence {
    return new PublicSentence(name.test(text) ? `"${text}"` : '"…"');
  }

  static unquoted(text: string): PublicSentence {
    return new PublicSentence(name.test(text) ? text : "…");
  }

  static lasting(milliseconds: number): PublicSentence {
    return new PublicSentence(formatDuration(milliseconds));
  }
}

/** A public sentence as a template, with numbers, names and other public sentences in it. */
export function publicly(texts: TemplateStringsArray, ...parts: readonly (number | PublicSentence)[]): PublicSentence {
  return PublicSentence.of(texts, ...parts);
}

/** The name of a function, namespace, queue or call, for a public sentence: in quotation marks, or left out if it is none. */
export function named(text: string): PublicSentence {
  return PublicSentence.named(text);
}

/** A duration in milliseconds, for a public sentence: `1m30s`. */
export function lasting(milliseconds: number): PublicSentence {
  return PublicSentence.lasting(milliseconds);
}

/** As `named`, without quotation marks: for a path. */
export function unquoted(text: string): PublicSentence {
  return PublicSentence.unquoted(text);
}
