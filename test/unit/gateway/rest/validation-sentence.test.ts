import fc from "fast-check";
import Type, { type TSchema } from "typebox";
import { describe, expect, test } from "vitest";

import { lazyValidators } from "../../../../runtime/gateway/rest/lazy-validators.ts";
import { routeTable } from "../../../../runtime/gateway/rest/route-table.ts";
import { isSchemaFailure, validationSentence } from "../../../../runtime/gateway/rest/validation-sentence.ts";

/** Returns the message for a body that does not fit, or undefined. */
function sentencesOf(schema: TSchema): (body: unknown) => string | undefined {
  const validate = lazyValidators()({ schema, method: "POST", url: "/", httpPart: "body" });
  return (body) => {
    const outcome: unknown = validate(body);
    if (outcome === true) return undefined;
    const found = typeof outcome === "object" && outcome !== null && "error" in outcome ? outcome.error : [];
    const failure = Object.assign(new Error("no"), { validation: found, validationContext: "body" });
    if (!isSchemaFailure(failure)) throw failure;
    return validationSentence(failure);
  };
}

const Body = Type.Object({ name: Type.String(), kind: Type.Optional(Type.Enum(["a", "b"], { type: "string" })) });

test.each<[unknown, string]>([
  [[], "Cannot read the body: expected an object"],
  ["hello", "Cannot read the body: expected an object"],
  [12, "Cannot read the body: expected an object"],
  [null, "Cannot read the body: it is empty"],
  [{}, 'Cannot read field "name": it is required'],
  [{ name: 1 }, 'Cannot read field "name" 1: expected text'],
  [{ name: "x", kind: "c" }, 'Cannot read field "kind" "c": expected "a" or "b"'],
])("%j: %s", (body, sentence) => {
  expect(sentencesOf(Body)(body)).toBe(sentence);
});

describe("bodies of every route", () => {
  const bodies = routeTable.flatMap(({ method, path, body }) => (body === undefined ? [] : [{ method, path, body }]));

  test.each(bodies)("$method $path: any invalid body gives one good sentence", ({ body }) => {
    const members =
      "properties" in body && typeof body.properties === "object" ? Object.keys(body.properties ?? {}) : [];
    const sentenceOf = sentencesOf(body);
    const anyBody = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom("x", ...members), fc.jsonValue({ maxDepth: 2 })),
    );
    fc.assert(
      fc.property(anyBody, (value) => {
        const sentence = sentenceOf(value);
        if (sentence === undefined) return;
        expect(sentence).toMatch(/^Cannot read (the|field) .+: .+/s);
        expect(sentence).not.toMatch(/expected expected|expected it is/);
      }),
      { numRuns: 50 },
    );
  });
});
