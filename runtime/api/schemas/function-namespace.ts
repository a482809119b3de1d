import Type, { type Static } from "typebox";

import { namespaceName } from "./name-schemas.ts";
import { Annotations, Labels } from "./text-map.ts";

/** A namespace of functions as it is sent and shown (contract §2). */
export const FunctionNamespace = Type.Object(
  {
    name: namespaceName("Name of the namespace; equal to the one in the path, if there is one"),
    labels: Type.Optional(Labels),
    annotations: Type.Optional(Annotations),
  },
  {
    title: "FunctionNamespace",
    description: "A namespace of functions as it is sent and shown",
    examples: [{ name: "dev", labels: { "com.service.namespace": "1" } }],
  },
);

/** See {@link FunctionNamespace}. */
export type FunctionNamespace = Readonly<Static<typeof FunctionNamespace>>;
