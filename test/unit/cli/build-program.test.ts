import { describe, expect, test } from "vitest";

import { buildProgram } from "../../../runtime/cli/build-program.ts";
import type { CommandEntry, CommandSpec } from "../../../runtime/cli/command-spec.ts";

interface Ran {
  readonly about: string;
  readonly flags: object;
  readonly args: readonly string[];
}

const spec = (about: string): CommandSpec => ({
  about,
  arguments: [{ name: "[words...]", about: "words" }],
  options: [
    { flags: "--label <key=value...>", about: "labels" },
    { flags: "--sort <key>", about: "order", fallback: "name", choices: ["name", "age"] },
    { flags: "-f, --follow", about: "go on" },
  ],
  groups: ["output"],
  examples: [],
  run: async () => {},
});

/** Runs a command line on a small tree: what was run, what was loaded, and what was written. */
async function run(...words: readonly string[]) {
  const loaded: string[] = [];
  const ran: Ran[] = [];
  const written = { out: "", error: "" };
  const leaf = (name: string, aliases: readonly string[]): CommandEntry => ({
    name,
    aliases,
    summary: `do ${name}`,
    load: async () => {
      loaded.push(name);
      return spec(`Does ${name}.`);
    },
  });
  const tree: readonly CommandEntry[] = [
    leaf("list", ["ls"]),
    { name: "nouns", aliases: ["noun"], summary: "have verbs", commands: [leaf("make", []), leaf("delete", ["rm"])] },
  ];
  const program = buildProgram(
    tree,
    async ({ about }, flags, args) => {
      ran.push({ about, flags, args });
    },
    {
      out: (text) => {
        written.out += text;
      },
      error: (text) => {
        written.error += text;
      },
      columns: 80,
    },
  );
  const failure = await program.parseAsync([...words], { from: "user" }).then(
    () => undefined,
    (err: Error) => err.message,
  );
  return { loaded, ran, ...written, failure };
}

const shared = { output: "table", color: "auto", input: true, sort: "name" };

test("a command is loaded when it is called, by its name or alias, and no other is", async () => {
  const wanted = { about: "Does delete.", flags: shared, args: [] };
  expect(await run("nouns", "delete")).toMatchObject({ loaded: ["delete"], ran: [wanted] });
  expect(await run("noun", "rm")).toMatchObject({ loaded: ["delete"], ran: [wanted] });
});

test("help of a noun loads none, of a command that one, and runs none", async () => {
  expect(await run("--help")).toMatchObject({ loaded: [], ran: [], out: expect.stringContaining("do list") as string });
  expect(await run("nouns", "--help")).toMatchObject({
    loaded: [],
    out: expect.stringContaining("delete, rm") as string,
  });
  expect(await run("nouns", "make", "-h")).toMatchObject({
    loaded: ["make"],
    ran: [],
    out: expect.stringMatching(/^Usage: weir nouns make \[options\] \[words\.\.\.\]\n\nDoes make\.\n/) as string,
  });
});

describe("options and words", () => {
  test.each<readonly [readonly string[], object, readonly string[]]>([
    [["a", "b"], {}, ["a", "b"]],
    [["-f", "a", "--sort", "age"], { follow: true, sort: "age" }, ["a"]],
    [["a", "--sort=age", "b"], { sort: "age" }, ["a", "b"]],
    [["--label", "x=1", "a", "--label=y=2=3"], { label: ["x=1", "y=2=3"] }, ["a"]],
    [["a", "--", "-f", "--label"], {}, ["a", "-f", "--label"]],
    [["-f", "--", "-f", "--label"], { follow: true }, ["-f", "--label"]],
    [["-ojson", "--no-input"], { output: "json", input: false }, []],
    [["-"], {}, ["-"]],
    [["help"], {}, ["help"]],
  ])("%j", async (words, flags, args) => {
    const { ran, failure } = await run("list", ...words);
    expect(failure).toBeUndefined();
    expect(ran).toEqual([{ about: "Does list.", flags: { ...shared, ...flags }, args }]);
  });

  test.each([
    [["list", "--sort", "size"], "is invalid. Allowed choices are name, age."],
    [["list", "--label"], "argument missing"],
    [["list", "--nothing"], "unknown option '--nothing'"],
    [["list", "--password=x"], "Cannot use --password: "],
    [["nothing"], "unknown command 'nothing'"],
    [["nouns", "nothing"], "unknown command 'nothing'"],
  ])("%j is refused, and nothing runs", async (words, message) => {
    const { ran, failure } = await run(...words);
    expect(failure).toContain(message);
    expect(ran).toEqual([]);
  });
});
