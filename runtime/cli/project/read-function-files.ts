import { mostText } from "../../api/schemas/key-rules.ts";
import { asText, entryAt, textAt, type Located, type LocatedPath } from "./located.ts";
import { parseEnvironmentFile } from "./environment-file.ts";
import { problemAt, type ProjectProblem } from "./problem.ts";
import { findProjectPath } from "./project-path.ts";
import { readTextFile } from "./read-text-file.ts";

/** What the files that a function names hold, and what is wrong with them. */
interface FunctionFiles {
  /** Of all its environment files. */
  readonly environment: Readonly<Record<string, string>>;
  readonly problems: readonly ProjectProblem[];
}

/** Checks the paths of a function and reads its environment files; `directory` is the project's. */
export async function readFunctionFiles(
  function_: Located,
  path: LocatedPath,
  directory: string,
): Promise<FunctionFiles> {
  const problems: ProjectProblem[] = [...(await pathProblems(function_, path, directory))];
  const listed = entryAt(function_, "environmentFiles")?.value;
  let environment: Readonly<Record<string, string>> = {};
  for (const [index, item] of (listed?.kind === "list" ? listed.items : []).entries()) {
    const name = asText(item);
    if (name === undefined || name.variables === "missing") continue;
    const refuse = (state: string): void =>
      void problems.push(problemAt(item.at, [...path, "environmentFiles", index], state));
    const found = await findProjectPath(directory, name.value, "file");
    if (found.kind === "refused") {
      refuse(found.state);
      continue;
    }
    const file = await readTextFile(found.path, mostText);
    if (file.kind === "refused") {
      refuse(`${JSON.stringify(name.value)}: ${file.state}`);
      continue;
    }
    const { values, states } = parseEnvironmentFile(file.text);
    for (const state of states) refuse(`${JSON.stringify(name.value)}: ${state}`);
    environment = { ...environment, ...values };
  }
  return { environment, problems };
}

/** The folder, and what the image is built from; the Dockerfile lies in the context. */
async function pathProblems(
  function_: Located,
  path: LocatedPath,
  directory: string,
): Promise<readonly ProjectProblem[]> {
  const context = textAt(function_, "build", "context") ?? textAt(function_, "folder");
  const named = [
    { keys: ["folder"], expected: "directory", base: undefined },
    { keys: ["build", "context"], expected: "directory", base: undefined },
    { keys: ["build", "dockerfile"], expected: "file", base: context?.value },
  ] as const;
  const problems: ProjectProblem[] = [];
  for (const { keys, expected, base } of named) {
    const text = textAt(function_, ...keys);
    if (text === undefined || text.variables === "missing") continue;
    const found = await findProjectPath(directory, text.value, expected, base);
    if (found.kind === "refused") problems.push(problemAt(text.at, [...path, ...keys], found.state));
  }
  return problems;
}
