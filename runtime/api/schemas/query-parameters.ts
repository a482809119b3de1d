import Type from "typebox";

/** Parameters of a query that goes to a function as it is; each entry is one `name=value`. */
export const QueryParameters = Type.Unsafe<Readonly<Record<string, string>>>({
  title: "QueryParameters",
  type: "object",
  description: "Parameters of a query by their names",
  additionalProperties: { type: "string" },
  examples: [{ page: "2" }],
});
