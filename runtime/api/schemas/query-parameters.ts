import Type from "typebox";

/** Query parameters that are passed on to a function unchanged; each entry is one `name=value`. */
export const QueryParameters = Type.Unsafe<Readonly<Record<string, string>>>({
  title: "QueryParameters",
  type: "object",
  description: "Query parameters by name",
  additionalProperties: { type: "string" },
  examples: [{ page: "2" }],
});
