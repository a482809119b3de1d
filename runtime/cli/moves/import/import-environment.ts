import { posix } from "node:path";

import { grammarRule, isEnvironmentName } from "../../../api/grammar.ts";
import type { Located } from "../../project/located.ts";
import { environmentLine } from "./environment-line.ts";
import { asksBy, authVariable } from "./import-deployment.ts";
import type { MoveReport } from "../report/move-report.ts";
import { entriesOf, isEmpty, sourceText } from "../source/source-document.ts";

/** A file that is written beside weir.yaml. */
export interface WrittenFile {
  /** Relative to weir.yaml. */
  readonly path: string;
  readonly text: string;
}

/** What a function gets from its `environment_file`. */
interface ImportedEnvironment {
  /** For `environmentFiles`. */
  readonly paths: string[];
  readonly files: readonly WrittenFile[];
  /** Values that no line holds, for `envVars`. */
  readonly values: Readonly<Record<string, string>>;
  /** All that files set, by name; of two files the last wins. */
  readonly variables: ReadonlyMap<string, string>;
  /** Which file sets a variable, by its name. */
  readonly setBy: ReadonlyMap<string, string>;
  /** Whether a file makes the function ask for a token. */
  readonly asksForToken: boolean;
}

/** What is known of a file that `environment_file` names. */
export interface EnvironmentSource {
  /** Relative to weir.yaml; undefined when it is not in the project. */
  readonly path: string | undefined;
  /** Its content; undefined when it cannot be read, or is no YAML. */
  readonly root: Located | undefined;
}

/**
 * Files of YAML become files of `KEY=value` lines. In a stack file they win over `environment`, the last of them over
 * all; in weir.yaml `envVars` win, so that variables of both are to be taken from these alone.
 */
export function importEnvironment(
  source: Located | undefined,
  field: string,
  sources: ReadonlyMap<string, EnvironmentSource>,
  report: MoveReport,
): ImportedEnvironment {
  const names = source === undefined || isEmpty(source) ? [] : source.kind === "list" ? source.items : [source];
  const paths: string[] = [];
  const files: WrittenFile[] = [];
  const last = new Map<string, string>();
  const setBy = new Map<string, string>();
  for (const [index, item] of names.entries()) {
    const name = sourceText(item) ?? "";
    const place = { field: `${field}[${index}]`, at: item.at };
    const { path, root } = sources.get(name) ?? { path: undefined, root: undefined };
    if (path === undefined) {
      report.refused(place, "the file is not in the directory of weir.yaml", "a file of KEY=value lines there");
      continue;
    }
    const written = withExtension(path);
    const to = "environmentFiles";
    paths.push(written);
    if (root === undefined) {
      const note = `write "${written}": KEY=value lines with what "${name}" sets, which cannot be read here`;
      report.kept(place, "environment_file", to, note);
      continue;
    }
    const { lines, values, wrong } = linesOf(root);
    files.push({ path: written, text: lines });
    for (const [key, value] of values) {
      last.set(key, value);
      setBy.set(key, name);
    }
    if (wrong.length === 0) report.kept(place, "environment_file", to, `"${written}" has the same values`);
    else report.refused(place, `${wrong.join(", ")}: expected ${grammarRule.environment}`);
  }
  const unwritable = [...last].filter(([key, value]) => environmentLine(key, value) === undefined);
  return {
    paths,
    files,
    values: Object.fromEntries(unwritable),
    variables: last,
    setBy,
    asksForToken: asksBy(last.get(authVariable)),
  };
}

function withExtension(path: string): string {
  return `${path.slice(0, path.length - posix.extname(path).length)}.env`;
}

function linesOf(root: Located) {
  const values = new Map<string, string>();
  const wrong: string[] = [];
  let lines = "";
  for (const [key, value] of entriesOf(entriesOf(root).get("environment"))) {
    const text = sourceText(value);
    if (!isEnvironmentName(key) || (text === undefined && !isEmpty(value))) {
      wrong.push(key);
    } else {
      values.set(key, text ?? "");
      if (key !== authVariable) lines += environmentLine(key, text ?? "") ?? "";
    }
  }
  return { lines, values, wrong };
}
