import { describe, expect, test } from "vitest";

import type { CommandEntry, CommandSpec } from "../../../../runtime/cli/command-spec.ts";
import { wantedAt, type Wanted } from "../../../../runtime/cli/completion/wanted-at.ts";

const spec: CommandSpec = {
  about: "Does it.",
  arguments: [
    { name: "<name>", about: "function", completes: "function" },
    { name: "[mode]", about: "mode", choices: ["fast", "slow"] },
    { name: "[folder...]", about: "folders" },
  ],
  options: [
    { flags: "-f, --file <file>", about: "a file" },
    { flags: "--sort <key>", about: "order", choices: ["name", "age"] },
    { flags: "--queue <name>", about: "a queue" },
    { flags: "--label <key=value...>", about: "labels" },
    { flags: "-a, --all", about: "all" },
  ],
  groups: ["gateway", "namespace"],
  examples: [],
  run: async () => {},
};

const tree: readonly CommandEntry[] = [
  { name: "do", aliases: ["act"], summary: "do it", load: async () => spec },
  {
    name: "nouns",
    aliases: ["noun"],
    summary: "have verbs",
    commands: [
      { name: "verb", summary: "a verb", load: async () => ({ ...spec, arguments: [] }) },
      { name: "other", summary: "another", load: async () => ({ ...spec, arguments: [] }) },
    ],
  },
];

const at = (line: string): Promise<Wanted> => wantedAt(tree, line.split(" "));
const values = (wanted: Wanted): readonly string[] =>
  wanted.kind === "words" ? wanted.words.map(({ value }) => value) : [wanted.kind];

describe("commands", () => {
  test.each([
    ["", ["do", "nouns"]],
    ["d", ["do", "nouns"]],
    ["help ", ["do", "nouns"]],
    ["nouns ", ["verb", "other"]],
    ["noun v", ["verb", "other"]],
    ["help nouns ", ["verb", "other"]],
    ["nothing ", []],
    ["nouns nothing ", []],
    ["nouns verb ", []],
  ])("%j can be followed by %j", async (line, expected) => {
    expect(values(await at(line))).toEqual(expected);
  });

  test("have their summary beside them, and what is typed so far", async () => {
    expect(await at("nou")).toEqual({
      kind: "words",
      typed: "nou",
      words: [
        { value: "do", about: "do it" },
        { value: "nouns", about: "have verbs" },
      ],
    });
  });
});

describe("options", () => {
  test("are those of the command and of its groups, and --help", async () => {
    const names = values(await at("do x --"));
    expect(names).toEqual(expect.arrayContaining(["--file", "--sort", "--all", "--gateway", "--namespace", "--help"]));
    expect(names).not.toContain("--output");
    expect(names).not.toContain("--password");
  });

  test.each([
    ["do --sort ", ["name", "age"]],
    ["do --sort=", ["--sort=name", "--sort=age"]],
    ["do --file ", ["files"]],
    ["do -f ", ["files"]],
    ["do --ca-file ", ["files"]],
    ["do --queue ", ["names"]],
    ["do --label ", []],
    ["do --user ", []],
    ["do --unknown=", ["--file", "--sort"]],
  ])("%j has values %j", async (line, expected) => {
    const found = values(await at(line));
    expect(found.slice(0, 2)).toEqual(expected);
  });

  test.each([
    ["do --namespace ", "namespace", ""],
    ["do -n ", "namespace", ""],
    ["do --namespace=f", "namespace", "--namespace="],
    ["do --context p", "context", ""],
    ["do --queue=", "queue", "--queue="],
  ])("%j has a name as its value", async (line, names, before) => {
    expect(await at(line)).toMatchObject({ kind: "names", names, before, typed: line.split(" ").at(-1) });
  });
});

describe("arguments", () => {
  test.each([
    ["do ", "names"],
    ["act ", "names"],
    ["do --all ", "names"],
    ["do --file x ", "names"],
    ["do -fx ", "names"],
    ["do --file=x ", "names"],
    ["do -- ", "names"],
    ["do -- -", "names"],
    ["do - fast ", "files"],
    ["do a fast ", "files"],
    ["do a fast b c ", "files"],
  ])("%j wants %s", async (line, kind) => {
    expect((await at(line)).kind).toBe(kind);
  });

  test("have the choices that there are", async () => {
    expect(values(await at("do a "))).toEqual(["fast", "slow"]);
    expect(values(await at("do a --file fast "))).toEqual(["fast", "slow"]);
  });
});

test("flags that say which gateway is asked are read, and no others", async () => {
  const line =
    "do --gateway http://a -n b --context=c --user d --password-file=e --tls-insecure --password-stdin --debug --timeout 1s --sort name ";
  expect(await at(line)).toMatchObject({
    flags: { gateway: "http://a", namespace: "b", context: "c", user: "d", passwordFile: "e", tlsInsecure: true },
  });
  const wanted = await at(line);
  const flags = wanted.kind === "names" ? Object.keys(wanted.flags) : [];
  expect(flags.toSorted()).toEqual(["context", "gateway", "namespace", "passwordFile", "tlsInsecure", "user"]);
});
