import Type from "typebox";

/** The description of this API. */
export const OpenApiDocument = Type.Object(
  {},
  {
    title: "OpenApiDocument",
    description: "An OpenAPI 3.1 document",
    additionalProperties: true,
    examples: [{ openapi: "3.1.0", info: { title: "Weir", version: "1.0.0" }, paths: {} }],
  },
);
