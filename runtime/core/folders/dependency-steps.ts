import { createHash } from "node:crypto";

import { formatRef, type FunctionRef } from "../functions/function-ref.ts";

/** Commands of a folder, divided into those that only install its dependencies, and those after them. */
export interface DependencySteps {
  readonly install: readonly string[];
  readonly rest: readonly string[];
  /** Equal when `install` makes the same of a folder. */
  readonly key: string;
}

/** The text of a file of the folder; undefined when there is none. */
export type FolderText = (path: string) => Promise<string | undefined>;

/**
 * Which of the first commands depend on nothing but the lists of dependencies that they read: `npm ci`, `pip install -r`
 * and their like. Undefined when there are none, or when the lists themselves name something in the folder, as a script
 * that npm runs after the installation may read any file of it.
 */
export async function dependencySteps(
  ref: FunctionRef,
  commands: readonly string[],
  read: FolderText,
): Promise<DependencySteps | undefined> {
  const lists = new Map<string, string>();
  let count = 0;
  for (const command of commands) {
    const named = listsOf(command);
    if (named === undefined) break;
    const found = new Map<string, string>();
    for (const path of named) {
      const text = await read(path);
      if (text !== undefined) found.set(path, text);
    }
    if (![...found].every(([path, text]) => isAboutPackages(path, text))) break;
    for (const [path, text] of found) lists.set(path, text);
    count += 1;
  }
  // A virtual environment alone is soon made.
  if (lists.size === 0) return undefined;
  const install = commands.slice(0, count);
  const facts = { by: formatRef(ref), install, lists: [...lists], node: process.version, of: process.arch };
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 40);
  return { install, rest: commands.slice(count), key };
}

const npmFiles = [
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  ".npmrc",
  // Makes npm compile the folder itself.
  "binding.gyp",
];
const npmFlag =
  /^--(?:omit=\w+|include=\w+|no-audit|no-fund|no-progress|ignore-scripts|production|legacy-peer-deps|prefer-offline|silent|loglevel=\w+)$/;
const virtualEnvironment = /^python3?(?:\.\d+)? -m venv [\w.-]+$/;
const pip = /^(?:(?:[\w.-]+\/bin\/)?python3?(?:\.\d+)? -m pip|(?:[\w.-]+\/bin\/)?pip3?) install (.+)$/;
const pipFlag = /^(?:-q|--quiet|--no-cache-dir|--disable-pip-version-check|--no-input|--no-deps|--require-hashes)$/;
const variables = /^env (?:[A-Za-z_]\w*=(?:[^\s'"\\]+|'[^']*') +)+/;
const fileName = /^[\w.-]+(?:\/[\w.-]+)*$/;

/** The lists that a command reads; undefined when it may read anything. */
function listsOf(command: string): readonly string[] | undefined {
  const words = command.trim().replace(variables, "").split(/ +/);
  const line = words.join(" ");
  if (virtualEnvironment.test(line)) return [];
  if (line === "go mod download") return ["go.mod", "go.sum"];
  const [program, action = "", ...flags] = words;
  if (program === "npm" && /^(?:ci|i|install)$/.test(action)) {
    return flags.every((flag) => npmFlag.test(flag)) ? npmFiles : undefined;
  }
  const pipWords = pip.exec(line)?.[1]?.split(" ");
  return pipWords === undefined ? undefined : listsOfPip(pipWords);
}

function listsOfPip(words: readonly string[]): readonly string[] | undefined {
  const lists: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [word = "", next = ""] = [words[at], words[at + 1]];
    if (word === "-r" || word === "--requirement") {
      if (!fileName.test(next)) return undefined;
      lists.push(next);
      at += 1;
    } else if (word === "-t" || word === "--target") {
      if (!fileName.test(next)) return undefined;
      at += 1;
    } else if (!pipFlag.test(word)) {
      return undefined;
    }
  }
  return lists.length === 0 ? undefined : lists;
}

/** Scripts that npm runs in a folder whose dependencies it installs. */
const installScripts = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
const requirement =
  /^(?:[A-Za-z0-9][\w.-]*(?:\[[\w,. -]+\])? *(?:[=<>!~]{1,3}.*|;.*)?|--(?:hash|index-url|extra-index-url|only-binary|no-binary|prefer-binary)\b.*)?\\?$/;

/** Whether a list names packages of a registry alone, and nothing of the folder. */
function isAboutPackages(path: string, text: string): boolean {
  switch (path) {
    case "package.json":
      return isPlainPackage(text);
    case "package-lock.json":
    case "npm-shrinkwrap.json":
      return !/"link": *true|"resolved": *"file:/.test(text);
    case "binding.gyp":
      return false;
    case ".npmrc":
    case "go.sum":
      return true;
    case "go.mod":
      return !/^\s*replace\b/m.test(text);
    default:
      return text.split(/\r?\n/).every((line) => requirement.test(line.replace(/(?:^|\s)#.*$/, "").trim()));
  }
}

function isPlainPackage(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The command says what is wrong with it.
    return false;
  }
  if (typeof value !== "object" || value === null) return false;
  const of = new Map<string, unknown>(Object.entries(value));
  const scripts = of.get("scripts") ?? {};
  if (typeof scripts !== "object" || of.has("workspaces")) return false;
  if (installScripts.some((name) => Object.hasOwn(scripts, name))) return false;
  return ["dependencies", "devDependencies", "optionalDependencies", "overrides"].every(
    (kind) =>
      !/"(?:file|link|portal|workspace):|": *"[.~/]/.test(JSON.stringify(of.get(kind) ?? {}).replaceAll('":"~', '":"')),
  );
}
