import Type, { type Static } from "typebox";

import type { AsRead } from "./as-read.ts";
import { secretName } from "../schemas/name-schemas.ts";
import { generation, resourceConditions, setOptions } from "./resource-conditions.ts";

const secretKey = Type.String({
  pattern: "^(?:[-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$",
  maxLength: 253,
  description: "Key of the core secret: the name of a file in the function",
  examples: ["api-key"],
});

const keys = (description: string) =>
  Type.Optional(Type.Array(secretKey, { maxItems: 1_024, description, ...setOptions }));

/** The spec of a Secret object: the core secret that functions may use, never a value (contract §2). */
export const SecretSpec = Type.Object(
  {
    secretRef: Type.Object(
      {
        name: secretName("Name of the core secret in the same namespace"),
        uid: Type.Optional(
          Type.String({
            pattern: "^[-a-zA-Z0-9]+$",
            maxLength: 128,
            description: "Its uid, written by the platform for secrets that it created",
          }),
        ),
      },
      { description: "The core secret that holds the values" },
    ),
    keys: keys("Keys that functions get as files; all when absent"),
  },
  { description: "The core secret and which of its keys functions get" },
);
export type SecretSpec = Readonly<Static<typeof SecretSpec>>;

/** The status of a Secret object. */
export const SecretObjectStatus = Type.Object(
  {
    conditions: resourceConditions(["Ready"], "Whether the core secret has all its keys"),
    keys: keys("Keys that the core secret has"),
    observedGeneration: Type.Optional(generation("Generation that the status describes")),
  },
  { description: "Observed state of the core secret" },
);
export type SecretObjectStatus = AsRead<Static<typeof SecretObjectStatus>>;
