import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { FastifySchema, FastifySchemaCompiler } from "fastify";

/**
 * A compiler of schemas as fastify's own, but each is compiled when its route is asked for the first time: all of them
 * took a third of a gateway's start, and few are ever used. Nothing is coerced, filled in or left out.
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
