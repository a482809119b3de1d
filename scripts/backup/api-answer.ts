import { Type, type Static } from "typebox";
import { Check, Parse } from "typebox/value";

/** Configuration and state of a stream, stored as the broker reports them, because they are sent back to a broker. */
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

/** An error response of the broker, in its own words. */
export class BrokerRefusal extends Error {
  readonly code: number | undefined;

  constructor(sentence: string, code: number | undefined) {
    super(sentence);
    this.code = code;
  }
}

/**
 * Reads a response of the broker to `doing`, e.g. `back up "CB"`.
 * @throws BrokerRefusal when it is an error
 */
export function readAnswer<T extends typeof StreamFacts | typeof RestoreBegun>(
  schema: T,
  doing: string,
  response: unknown,
): Static<T> {
  if (Check(Refused, response)) {
    const { description, err_code: code } = response.error;
    throw new BrokerRefusal(`Cannot ${doing}: ${description}`, code);
  }
  return Parse(schema, response);
}
