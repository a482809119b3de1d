import Type, { type Static } from "typebox";

import type { AsRead } from "./as-read.ts";
import { time } from "../schemas/name-schemas.ts";

/** The conditions of an object, one per type; each writer owns its types. */
export function resourceConditions(types: readonly [string, ...string[]], about: string) {
  return Type.Optional(
    Type.Array(
      Type.Object(
        {
          type: Type.Enum([...types], { type: "string", description: "What the condition is about" }),
          status: Type.Enum(["True", "False", "Unknown"], {
            type: "string",
            description: "Whether the condition holds",
          }),
          reason: Type.String({
            pattern: "^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            maxLength: 1_024,
            description: "One word in CamelCase, for programs",
          }),
          message: Type.String({ maxLength: 32_768, description: "One sentence, for people" }),
          lastTransitionTime: time("When the status last changed"),
          observedGeneration: Type.Optional(generation("Generation of the object that the condition describes")),
        },
        { description: "One condition" },
      ),
      {
        maxItems: 16,
        description: about,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
      },
    ),
  );
}

/** A generation of an object, as in `metadata.generation`. */
export function generation(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** A list without duplicates. */
export const setOptions = { "x-kubernetes-list-type": "set" } as const;

/** Status of a kind that is accepted or refused. */
function acceptedStatus(types: readonly [string, ...string[]], about: string) {
  return Type.Object(
    {
      conditions: resourceConditions(types, about),
      observedGeneration: Type.Optional(generation("Generation that the conditions describe")),
    },
    { description: "Observed state of the object" },
  );
}

/** See {@link ProfileObjectStatus}, {@link IamObjectStatus}. */
export type AcceptedObjectStatus = AsRead<Static<ReturnType<typeof acceptedStatus>>>;

/** Status of a Profile. */
export const ProfileObjectStatus = acceptedStatus(["Accepted"], "Whether functions can use it");

/** Status of a JwtIssuer, a Policy or a Role. */
export const IamObjectStatus = acceptedStatus(
  ["Accepted", "Enforced", "Ready", "KeysRead"],
  "Whether the object can be used, whether the platform acts on it, and whether all of it has an effect; KeysRead, of issuers, is written by gateways",
);
