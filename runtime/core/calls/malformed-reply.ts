import { publicly as sentence, type PublicSentence } from "../../api/public-sentence.ts";

/** A replica's reply breaks a rule. */
export class MalformedReply extends Error {
  override readonly name = "MalformedReply";
  /** Names the rule in words for anyone; "it" is the replica: "its reply has two lengths". */
  readonly publicly: PublicSentence;

  constructor(publicly: PublicSentence, options?: ErrorOptions) {
    super(String(publicly), options);
    this.publicly = publicly;
  }
}

/** Which rule a reply breaks, in words for anyone. */
export function brokenRule(err: Error): PublicSentence {
  return err instanceof MalformedReply ? err.publicly : sentence`its reply breaks the rules of HTTP`;
}
