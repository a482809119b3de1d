import Type, { type Static } from "typebox";

import { namespaceName } from "./name-schemas.ts";
import { Annotations, Labels } from "./text-map.ts";

/** A namespace of functions as it is sent and shown (contract §2). */
export const FunctionNamespaceBody = Type.Object(
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

/** See {@link FunctionNamespaceBody}. */
export type FunctionNamespaceBody = Readonly<Static<typeof FunctionNamespaceBody>>;
