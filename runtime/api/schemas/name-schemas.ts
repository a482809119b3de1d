import Type from "typebox";

import { namePattern } from "../grammar.ts";

/** Name of a function (contract §1.3); each function here takes the description, which says whose name it is. */
export const functionName = (description: string) =>
  Type.String({ pattern: namePattern.function, maxLength: 63, description, examples: ["hello"] });

/** Name of a namespace. */
export const namespaceName = (description: string, example = "functions") =>
  Type.String({ pattern: namePattern.namespace, maxLength: 63, description, examples: [example] });

/** Name of a secret: labels joined by dots. */
export const secretName = (description: string) =>
  Type.String({ pattern: namePattern.secret, maxLength: 253, description, examples: ["api-key"] });

/** Name of a queue. */
export const queueName = (description: string) =>
  Type.String({ pattern: namePattern.queue, maxLength: 63, description, examples: ["default"] });

/** Id of a call: a UUID of any version. */
export const callId = (description: string) =>
  Type.String({
    format: "uuid",
    pattern: namePattern.callId,
    description,
    examples: ["7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10"],
  });

/** A point in time, RFC 3339. */
export const time = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

/** The optional namespace in the body of a request. */
export const inNamespace = Type.Optional(namespaceName("Namespace; the default one when absent"));
