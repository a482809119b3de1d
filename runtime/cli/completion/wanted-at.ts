import { Option } from "commander";

import type { CommandEntry, CommandSpec, CompletedNames, OptionSpec } from "../command-spec.ts";
import { optionsOf, type SharedFlags } from "../shared-options.ts";

/** What can stand at the cursor of a command line; `typed` is the word there so far. */
export type Wanted =
  | { readonly kind: "words"; readonly typed: string; readonly words: readonly { value: string; about: string }[] }
  | {
      readonly kind: "names";
      readonly typed: string;
      /** What comes before the name in the same word, as in `--namespace=`. */
      readonly before: string;
      readonly names: CompletedNames;
      /** The options before the cursor: they say which gateway is asked, and for which namespace. */
      readonly flags: SharedFlags;
    }
  | { readonly kind: "files" };

/** An option with a value, or without one. */
interface Flag extends OptionSpec {
  readonly parsed: Option;
}

/** Options whose value is a name, in any command. */
const namesOfOption: Readonly<Record<string, CompletedNames>> = {
  "--namespace": "namespace",
  "--context": "context",
  "--function": "function",
  "--queue": "queue",
  "--secret": "secret",
};

/** Options that say which gateway is asked. Others have no part in that: one would read standard input. */
const askedBy =
  /^--(?:gateway|context|namespace|user|password-file|token-file|ca-file|cert-file|key-file|tls-insecure|insecure-http)$/;

/** What can stand in the place of the last of `words`, which follow the program's name. */
export async function wantedAt(entries: readonly CommandEntry[], words: readonly string[]): Promise<Wanted> {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? "";
  const [first, ...rest] = before;
  if (first === undefined)
    return choice(
      typed,
      entries.map(({ name, summary }) => ({ value: name, about: summary })),
    );
  if (first === "help") return wantedAt(entries, words.slice(1));
  const entry = entries.find(({ name, aliases = [] }) => name === first || aliases.includes(first));
  if (entry?.load !== undefined) return wantedOf(await entry.load(), rest, typed);
  return entry?.commands === undefined ? choice(typed, []) : wantedAt(entry.commands, [...rest, typed]);
}

function wantedOf(spec: CommandSpec<never>, before: readonly string[], typed: string): Wanted {
  const flags = optionsOf(spec).map((each): Flag => ({ ...each, parsed: new Option(each.flags, each.about) }));
  const read = readWords(flags, before);
  if (read.pending !== undefined) return valueOf(read.pending, "", typed, read.values);
  if (!read.isEnded && typed.startsWith("-")) {
    const [name, value] = splitLong(typed);
    const flag = flags.find(({ parsed }) => parsed.long === name);
    if (value !== undefined && flag !== undefined) return valueOf(flag, `${name}=`, typed, read.values);
    return choice(typed, [...flags.map(({ parsed, about }) => ({ value: parsed.long ?? "", about })), help]);
  }
  const all = spec.arguments ?? [];
  const last = all.at(-1);
  const argument = all[read.count] ?? (last?.name.includes("...") === true ? last : undefined);
  if (argument?.choices !== undefined) return choice(typed, argument.choices.map(plain));
  if (argument?.completes !== undefined)
    return { kind: "names", typed, before: "", names: argument.completes, flags: read.values };
  return isPath(argument?.name ?? "") ? { kind: "files" } : choice(typed, []);
}

const help = { value: "--help", about: "show the help of this command" };

function valueOf({ parsed, choices }: Flag, before: string, typed: string, flags: SharedFlags): Wanted {
  if (choices !== undefined)
    return choice(
      typed,
      choices.map((each) => plain(`${before}${each}`)),
    );
  const names = namesOfOption[parsed.long ?? ""];
  if (names !== undefined) return { kind: "names", typed, before, names, flags };
  return isPath(parsed.flags) && before === "" ? { kind: "files" } : choice(typed, []);
}

interface ReadWords {
  /** The option whose value comes next. */
  readonly pending: Flag | undefined;
  /** Whether `--` ended the options. */
  readonly isEnded: boolean;
  /** Words that are no options. */
  readonly count: number;
  readonly values: SharedFlags;
}

function readWords(flags: readonly Flag[], words: readonly string[]): ReadWords {
  const values: Record<string, string | boolean> = {};
  const keep = ({ parsed }: Flag, value: string | boolean): void => {
    if (askedBy.test(parsed.long ?? "")) values[parsed.attributeName()] = value;
  };
  let pending: Flag | undefined;
  let isEnded = false;
  let count = 0;
  for (const word of words) {
    if (pending !== undefined) {
      keep(pending, word);
      pending = undefined;
    } else if (word === "--") isEnded = true;
    else if (isEnded || !word.startsWith("-") || word === "-") count++;
    else {
      const [name, value] = splitLong(word);
      const flag = flags.find(({ parsed }) => parsed.long === name || parsed.short === name);
      if (flag === undefined) continue;
      if (value !== undefined) keep(flag, value);
      else if (flag.parsed.required) pending = flag;
      else keep(flag, true);
    }
  }
  return { pending, isEnded, count, values };
}

/** An option's name and the value in the same word, as in `--output=json`, `-ojson`. */
function splitLong(word: string): readonly [string, string?] {
  if (!word.startsWith("--")) return word.length > 2 ? [word.slice(0, 2), word.slice(2)] : [word];
  const at = word.indexOf("=");
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function choice(typed: string, words: readonly { value: string; about: string }[]): Wanted {
  return { kind: "words", typed, words };
}

function plain(value: string): { value: string; about: string } {
  return { value, about: "" };
}

/** By the placeholder, as in `--ca-file <file>`, `[folder]`. */
function isPath(text: string): boolean {
  return /[<[](?:file|folder|path|directory)/.test(text);
}
