import Type, { type Static } from "typebox";

import { openEnum } from "../open-enum.ts";

/**
 * States of a function in lists. ready: as many replicas as desired; scaled_to_zero: a call wakes it; degraded: fewer,
 * but calls are served; starting: none yet; stopping: more than desired; stalled: a person has to act.
 */
export const functionStates = ["ready", "scaled_to_zero", "starting", "degraded", "stopping", "stalled"] as const;
export type FunctionState = (typeof functionStates)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1] });
const rate = (description: string) => Type.Number({ minimum: 0, description, examples: [12.5] });

const columns = Type.Tuple([
  Type.String({ description: "Key: name and namespace, joined by a dot", examples: ["hello.functions"] }),
  count("Desired replicas"),
  count("Replicas that are ready"),
  openEnum(functionStates, "What it does; stalled: a person has to act"),
  rate("Calls that ended, per second"),
  rate("Those with a status of 500 or more, per second"),
  count("Calls in flight"),
  count("When its state last changed, seconds since 1970"),
]);

/** Key, wanted, ready, state, calls/s, errors/s, in flight, since. */
export type FunctionRow = Static<typeof columns>;

/** One function in lists; an array, as there are up to 10 000 of them. */
export const FunctionRow = Type.Unsafe<FunctionRow>({
  type: "array",
  // As JSON Schema of 2020 writes it, which the document has; the library writes an older one.
  prefixItems: columns.items,
  // Not `items: false`: generators of clients read no schema that is a boolean.
  minItems: columns.items.length,
  maxItems: columns.items.length,
  title: "FunctionRow",
  description: "A function in lists: key, wanted, ready, state, calls/s, errors/s, in flight, since",
  examples: [["hello.functions", 1, 1, "ready", 12.5, 0, 3, 1_769_860_800]],
});
