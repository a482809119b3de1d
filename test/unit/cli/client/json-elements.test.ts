import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { JsonElements } from "../../../../runtime/cli/client/json-elements.ts";

/** What is read of a text that comes in chunks of these sizes, and then as a whole. */
function read(text: string, sizes: readonly number[] = []) {
  const taken: unknown[] = [];
  const elements = new JsonElements((element) => void taken.push(element));
  const bytes = Buffer.from(text);
  let at = 0;
  for (const size of sizes) {
    elements.add(bytes.subarray(at, at + size));
    at += size;
  }
  elements.add(bytes.subarray(at));
  return { taken, end: elements.end() };
}

/** What `JSON.parse` makes of it; undefined when it refuses it. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 });
const spaced = fc.tuple(fc.json({ maxDepth: 3 }), fc.boolean()).map(([json, isSpaced]) => {
  return isSpaced ? JSON.stringify(JSON.parse(json), undefined, 1) : json;
});
/** Documents, most of them lists, some with a piece missing or another one in between. */
const texts = fc
  .tuple(
    fc.array(spaced),
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom("", "", "", ",", "]", "[", '"', "\\", " ", "x"),
  )
  .map(([documents, place, cut, more]) => {
    const text = `[${documents.join(",")}]`;
    const at = place % (text.length + 1);
    return text.slice(0, at) + more + text.slice(more === "" ? at : at + (cut % 2));
  });

describe("a document in chunks", () => {
  test("is what JSON.parse makes of the whole, and what that refuses is refused", () => {
    fc.assert(
      fc.property(fc.oneof(texts, spaced), sizes, (text, chunks) => {
        const expected = parsed(text);
        if (expected === undefined) {
          expect(() => read(text, chunks)).toThrow(SyntaxError);
          return;
        }
        const { value } = expected;
        const whole = Array.isArray(value)
          ? { taken: value, end: { isList: true } }
          : { taken: [], end: { isList: false, value } };
        expect(read(text, chunks)).toEqual(whole);
      }),
    );
  });

  test.each(["[1,]", "[,1]", "[1,,2]", "[1 2]", "[1,2", "[1,2]]", "[1,2],3", "[1,2]{}", "[[1,2]", '["a,b]', "", "1,2"])(
    "%j is refused, wherever it is cut",
    (text) => {
      for (let first = 0; first <= text.length; first++)
        for (let second = 0; second <= text.length - first; second++)
          expect(() => read(text, [first, second])).toThrow(SyntaxError);
    },
  );

  test("that is a map is no list, whatever it has in it", () => {
    const text = '{"a":[1,2],"b":{"c":",]"}}';
    expect(read(text, [1, 4, 3])).toEqual({ taken: [], end: { isList: false, value: JSON.parse(text) as unknown } });
  });
});

test("elements are handed over as soon as the next one begins", () => {
  const taken: unknown[] = [];
  const elements = new JsonElements((element) => void taken.push(element));
  elements.add(Buffer.from('[{"a":"x,\\"]"},{"b'));
  expect(taken).toEqual([{ a: 'x,"]' }]);
  elements.add(Buffer.from('":2}'));
  expect(taken).toHaveLength(1);
  elements.add(Buffer.from(",3]"));
  expect(taken).toHaveLength(2);
  expect(elements.end()).toEqual({ isList: true });
  expect(taken).toEqual([{ a: 'x,"]' }, { b: 2 }, 3]);
});

test("an error of whoever takes elements is theirs", () => {
  const elements = new JsonElements(() => {
    throw new RangeError("too many");
  });
  expect(() => elements.add(Buffer.from("[1,2"))).toThrow(new RangeError("too many"));
});
