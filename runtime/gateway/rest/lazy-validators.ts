import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { FastifySchema, FastifySchemaCompiler } from "fastify";

/**
 * A schema compiler like Fastify's own, except that each schema is compiled at the first request to its route:
 * compiling all of them took a third of a gateway's start, and few are ever used. Nothing is coerced, defaulted or
 * removed.
 */
export function lazyValidators(): FastifySchemaCompiler<FastifySchema> {
  const ajv = new Ajv({ verbose: true, addUsedSchema: false });
  formats.default(ajv);
  return ({ schema }) => {
    let validate: ValidateFunction | undefined;
    return (data: unknown) => {
      validate ??= ajv.compile(schema);
      return validate(data) || { error: validate.errors ?? [] };
    };
  };
}
