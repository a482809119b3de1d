/** The function cannot be served: a word in CamelCase, `reason`, and a sentence. */
export class FailureError extends Error {
  override readonly name = "FailureError";
  readonly reason: string;

  constructor(reason: string, sentence: string) {
    super(sentence);
    this.reason = reason;
  }
}
