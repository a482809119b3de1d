import Type, { type Static } from "typebox";

import { namespaceName } from "./name-schemas.ts";
import { Annotations, Labels } from "./text-map.ts";

/** A namespace of functions as it is sent and shown (contract §2). */
export const FunctionNamespaceBody = Type.Object(
  {
    name: namespaceName("Name of the namespace; the same as in the path, if it is there"),
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
