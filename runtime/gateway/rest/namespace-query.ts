import Type from "typebox";

import { namePattern } from "../../api/grammar.ts";

/** A query that may name a namespace. */
export const NamespaceQuery = Type.Object({
  namespace: Type.Optional(
    Type.String({
      pattern: `^(?:${namePattern.namespace.slice(1, -1)})?$`,
      maxLength: 63,
      description: "Namespace; the default one when absent or empty",
      examples: ["functions"],
    }),
  ),
});

/** The namespace that a request names, body before query; an empty parameter names none. */
export function namedNamespace(
  query: { readonly namespace?: string },
  body?: { readonly namespace?: string },
): string | undefined {
  return body?.namespace ?? (query.namespace === "" ? undefined : query.namespace);
}
