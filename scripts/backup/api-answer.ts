import { Type, type Static } from "typebox";
import { Check, Parse } from "typebox/value";

/** What is written of a stream's configuration and state: as the broker says it, for the broker. */
export const StreamFacts = Type.Object({
  config: Type.Intersect([
    Type.Object({ name: Type.String(), max_bytes: Type.Number(), num_replicas: Type.Number() }),
    Type.Record(Type.String(), Type.Unknown()),
  ]),
  state: Type.Intersect([
    Type.Object({ messages: Type.Number(), bytes: Type.Number() }),
    Type.Record(Type.String(), Type.Unknown()),
  ]),
});
export type StreamFacts = Static<typeof StreamFacts>;

export const RestoreBegun = Type.Object({ deliver_subject: Type.String() });

const Refused = Type.Object({
  error: Type.Object({ description: Type.String(), err_code: Type.Optional(Type.Number()) }),
});

/** The broker said no, in its words. */
export class BrokerRefusal extends Error {
  readonly code: number | undefined;

  constructor(sentence: string, code: number | undefined) {
    super(sentence);
    this.code = code;
  }
}

/**
 * An answer of the broker to `doing`, e.g. `back up "CB"`.
 * @throws BrokerRefusal when it is an error
 */
export function readAnswer<T extends typeof StreamFacts | typeof RestoreBegun>(
  schema: T,
  doing: string,
  answer: unknown,
): Static<T> {
  if (Check(Refused, answer)) {
    const { description, err_code: code } = answer.error;
    throw new BrokerRefusal(`Cannot ${doing}: ${description}`, code);
  }
  return Parse(schema, answer);
}
