import { describe, expect, test } from "vitest";

import { commandOf } from "../../../runtime/cli/build-program.ts";
import type { CommandEntry, CommandSpec } from "../../../runtime/cli/command-spec.ts";
import { commandTree } from "../../../runtime/cli/command-tree.ts";
import { runCli } from "../../../runtime/cli/run-cli.ts";
import { optionsOf } from "../../../runtime/cli/shared-options.ts";
import { heardTerminal } from "../../support/heard-terminal.ts";

interface Found {
  readonly words: readonly string[];
  readonly entry: CommandEntry;
}

function walk(entries: readonly CommandEntry[], above: readonly string[] = []): readonly Found[] {
  return entries.flatMap((entry) => {
    const words = [...above, entry.name];
    return [{ words, entry }, ...walk(entry.commands ?? [], words)];
  });
}

const all = walk(commandTree);
const commands = all.flatMap(({ words, entry: { load } }) => (load === undefined ? [] : [{ words, load }]));
const titled = commands.map(({ words, load }) => [words.join(" "), words, load] as const);

async function helpOf(words: readonly string[]): Promise<string> {
  const terminal = heardTerminal();
  expect(await runCli([...words, "--help"], terminal)).toBe(0);
  return terminal.written.stdout;
}

test("there are commands, and each name is that of a command or holds some", () => {
  expect(commands.length).toBeGreaterThan(25);
  for (const { words, entry } of all)
    expect([words, (entry.load === undefined) !== (entry.commands === undefined)]).toEqual([words, true]);
});

test("names and aliases are plain and stand for one thing", () => {
  const check = (entries: readonly CommandEntry[]): void => {
    const words = entries.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(words.toSorted()).toEqual([...new Set(words)].toSorted());
    for (const word of words) expect(word).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    for (const { commands: inner } of entries) if (inner !== undefined) check(inner);
  };
  check(commandTree);
  // Words of the parser itself.
  for (const { entry } of all) expect([entry.name, ...(entry.aliases ?? [])]).not.toContain("help");
});

test("summaries fit beside the names, without a full stop", () => {
  for (const { words, entry } of all) {
    expect(entry.summary, words.join(" ")).toMatch(/^[a-z].*[^.\s]$/);
    expect(entry.summary.length, words.join(" ")).toBeLessThanOrEqual(90);
  }
});

describe.each(titled)("weir %s", (title, words, load) => {
  test("loads, and says what it does in a sentence or two", async () => {
    const spec: CommandSpec<never> = await load();
    expect(spec.about).toMatch(/^[A-Z].*\.$/s);
    expect(spec.about.length).toBeLessThanOrEqual(320);
  });

  test("has an example of it", async () => {
    const { examples } = await load();
    // Where an id is needed, another command comes first.
    const own = new RegExp(`(?:^|[;|&] |xargs .*)weir ${title}(?: |$)`);
    expect(examples.filter(({ line }) => own.test(line)).length).toBeGreaterThanOrEqual(1);
    for (const { line, about } of examples) {
      expect(line).toMatch(/\bweir /);
      expect(line).not.toContain("\n");
      expect(about).toMatch(/[^.\s]$/);
    }
  });

  test("has options that the parser takes, each once, and words for all", async () => {
    const spec = await load();
    const names = optionsOf(spec).flatMap(({ flags }) => flags.match(/(?<=^|, )--?[a-z][a-z-]*/gi) ?? []);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    for (const { flags, about } of optionsOf(spec)) {
      expect(flags).toMatch(/--[a-z]/);
      expect(about, flags).toMatch(/[^.\s]$/);
    }
    for (const { name, about } of spec.arguments ?? []) {
      expect(name).toMatch(/^(?:<.+>|\[.+\])$/);
      expect(about, name).toMatch(/[^.\s]$/);
    }
    // It throws at two that collide.
    commandOf(spec, ["weir", ...words], async () => {}, { out: () => {}, error: () => {}, columns: 80 });
  });

  test("has help that fits into 80 columns and lists its options, arguments and examples", async () => {
    const spec = await load();
    const help = await helpOf(words);
    const examples = new Set(spec.examples.flatMap(({ line, about }) => [`  ${line}`, `      ${about}`]));
    for (const line of help.split("\n")) {
      // A command line is not broken, so that it can be copied.
      if (!examples.has(line)) expect(line.length, line).toBeLessThanOrEqual(80);
    }
    expect(help).toContain(`Usage: weir ${title}`);
    const flat = help.replaceAll(/\s+/g, " ");
    expect(flat).toContain(spec.about);
    for (const { flags, about } of optionsOf(spec)) {
      expect(flat).toContain(flags);
      expect(flat).toContain(about);
    }
    for (const { about } of spec.arguments ?? []) expect(flat).toContain(about);
    for (const line of examples) expect(help).toContain(`${line}\n`);
    expect(help).not.toContain("--password [value]");
  });
});

test("the help of the whole fits, and has a line for each command", async () => {
  const help = await helpOf([]);
  for (const line of help.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  for (const { name, aliases = [], summary } of commandTree) {
    expect(help).toContain(`  ${[name, ...aliases].join(", ")} `);
    expect(help.replaceAll(/\s+/g, " ")).toContain(summary);
  }
});
