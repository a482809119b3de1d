import { describe, expect, test } from "vitest";

import { codeBlocks, commandBlocks, printsAsShown } from "../../support/markdown-blocks.ts";

const fence = "```";
const document = `# Title
${fence}sh
echo one
${fence}
Prose.
${fence}text
one
${fence}

${fence}sh
cd /
pwd
${fence}
${fence}json
{}
${fence}
${fence}text
not shown by a command
${fence}
`;

test("blocks are found with their language and line", () => {
  expect(codeBlocks(document).map(({ language, line }) => [language, line])).toEqual([
    ["sh", 2],
    ["text", 6],
    ["sh", 10],
    ["json", 14],
    ["text", 17],
  ]);
});

test("commands come with their output", () => {
  expect(commandBlocks(document)).toEqual([
    { line: 2, commands: "echo one", shows: "one" },
    { line: 10, commands: "cd /\npwd", shows: undefined },
  ]);
});

describe("printsAsShown", () => {
  test.each([
    ["one\n", "one"],
    ["a\r\nb\r\n\r\n", "a\nb"],
    ["a\r\r\nb\n", "…\nb"],
    ["HTTP/1.1 202 Accepted\r\nDate: now\r\n\r\n", "HTTP/1.1 202 Accepted\n…"],
    ["> npm\n\nx\n", "…\nx"],
    ["x\n", "…\nx\n…"],
    ['{"id":"5-6","state":"done","b":[1]}', '{"id":"<id>","state":"done",…}'],
    ['  "durationSeconds": 0.25,', '  "durationSeconds": <seconds>,'],
    ["<h1>a+b?</h1>", "<h1>a+b?</h1>"],
  ])("%j is %j", (printed, shown) => expect(printsAsShown(printed, shown)).toBe(true));

  test.each([
    ["one\ntwo", "one"],
    ["one", "one\ntwo"],
    ["x one", "one"],
    ['{"id":"a b"}', '{"id":"<id>"}'],
    ["HTTP/1.1 500 Internal Server Error\n", "HTTP/1.1 202 Accepted\n…"],
    ["a.c", "a…b"],
    ["abc", "a.c"],
  ])("%j is not %j", (printed, shown) => expect(printsAsShown(printed, shown)).toBe(false));
});
