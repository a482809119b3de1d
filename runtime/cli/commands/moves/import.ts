import { stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { CliError, usageError } from "../../cli-error.ts";
import { readLimited } from "../../client/read-limited.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { importFiles, type ImportInput, type ImportResult } from "../../moves/import/import-files.ts";
import { reportText, resultCounts, type ImportReport } from "../../moves/report/report-text.ts";
import { mostSourceBytes } from "../../moves/source/read-source.ts";
import { outputExists, writeOutput } from "../../moves/write/write-output.ts";
import { escapeText } from "../../output/escape-text.ts";
import { projectFileName } from "../../project/project-head.ts";
import { pathState, readTextFile } from "../../project/read-text-file.ts";
import type { Terminal } from "../../terminal.ts";

interface ImportOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly report: "table" | "json";
  readonly strict?: boolean;
  readonly renameKeys?: boolean;
}

/** Name of a file of objects. */
const manifestsName = "manifests.yaml";

/** `weir import`. */
export const importCommand: CommandSpec<ImportOptions> = {
  about:
    "Reads OpenFaaS stack files and custom resources, and writes weir.yaml or the same objects for Weir, with a report of what became of each field. Function objects of Weir become a weir.yaml, too. Nothing is sent.",
  arguments: [{ name: "<file...>", about: "YAML files; - is standard input" }],
  options: [
    { flags: "--out <path>", about: "file or directory that is written to; - is standard output; . by default" },
    { flags: "--force", about: "overwrite what is there" },
    { flags: "--report <format>", about: "format of the report", fallback: "table", choices: ["table", "json"] },
    { flags: "--strict", about: "exit code 1 if a field is not supported" },
    { flags: "--rename-keys", about: "labels and annotations com.openfaas.* that Weir reads become com.service.*" },
  ],
  groups: [],
  examples: [
    { line: "weir import stack.yml", about: "Writes weir.yaml and says what became of each field" },
    {
      line: "weir import stack.yml --out moved --strict --report json",
      about: "In a pipeline: fails if something was left out",
    },
    {
      line: "weir generate functions | weir import - --out -",
      about: "From Function objects back to a weir.yaml, on standard output",
    },
  ],
  run: async (context, options, args) => {
    const { terminal, output } = context;
    const { out = ".", renameKeys = false } = options;
    const target = await targetOf(terminal.directory, out);
    const result = await importFiles(await readInputs(context, args), { directory: target.directory, renameKeys });
    const outputs = outputsOf(result, target, terminal.directory);
    await writeAll(outputs, options.force === true);
    const report: ImportReport = {
      rows: result.rows,
      secrets: result.secrets,
      files: outputs.map(({ shown }) => shown),
    };
    const text =
      options.report === "json" ? escapeText(`${JSON.stringify(report, undefined, 2)}\n`) : reportText(report);
    if (target.kind === "stdout") {
      await output.write((result.project ?? "") + (result.manifests ?? ""));
      output.note(text.trimEnd());
    } else {
      await output.write(text);
    }
    const written = report.files.join(", ");
    output.note(`${written === "" ? "" : `${written} written; `}fields: ${resultCounts(result.rows)}`);
    judge(result, options.strict === true, args);
  },
};

/** Where results go, and the directory that paths in weir.yaml are relative to. */
type ImportTarget =
  | { readonly kind: "stdout"; readonly directory: string }
  | { readonly kind: "file"; readonly directory: string; readonly path: string }
  | { readonly kind: "directory"; readonly directory: string };

async function targetOf(current: string, out: string): Promise<ImportTarget> {
  if (out === "-") return { kind: "stdout", directory: current };
  const path = resolve(current, out);
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    // What has no extension is not there yet, and is made.
    () => out.endsWith("/") || !/\.[^./]+$/.test(out),
  );
  return isDirectory ? { kind: "directory", directory: path } : { kind: "file", directory: dirname(path), path };
}

async function readInputs({ terminal }: CommandContext, args: readonly string[]): Promise<readonly ImportInput[]> {
  if (args.filter((each) => each === "-").length > 1) throw usageError("Cannot read standard input twice");
  const inputs: ImportInput[] = [];
  for (const file of args) {
    if (file === "-") {
      inputs.push({ file, text: await readPiped(terminal), directory: terminal.directory });
    } else {
      const path = resolve(terminal.directory, file);
      const read = await readTextFile(path, mostSourceBytes);
      if (read.kind === "refused") throw usageError(`Cannot read "${file}": ${read.state}`);
      inputs.push({ file, text: read.text, directory: dirname(path) });
    }
  }
  return inputs;
}

async function readPiped({ stdin, isTerminal }: Terminal): Promise<string> {
  if (isTerminal.stdin) throw usageError("Cannot read standard input: it is a terminal; pipe a file in");
  return readLimited(stdin, mostSourceBytes).catch(() => {
    throw usageError(`Cannot read standard input: it breaks off, or is over ${mostSourceBytes} bytes`);
  });
}

interface ImportOutput {
  readonly path: string;
  /** Relative to the working directory. */
  readonly shown: string;
  readonly text: string;
}

/** The files that are written; none for standard output, which takes one kind of result. */
function outputsOf(
  { project, manifests, files }: ImportResult,
  target: ImportTarget,
  current: string,
): readonly ImportOutput[] {
  if (target.kind !== "directory" && project !== undefined && manifests !== undefined)
    throw usageError(`Cannot write both a ${projectFileName} and objects to one file; give --out a directory`);
  if (target.kind === "stdout") return [];
  const named = (name: string): string => (target.kind === "file" ? target.path : join(target.directory, name));
  const outputs = [
    { path: named(projectFileName), text: project },
    { path: named(manifestsName), text: manifests },
    ...files.map(({ path, text }) => ({ path: join(target.directory, path), text })),
  ];
  return outputs.flatMap(({ path, text }) =>
    text === undefined ? [] : [{ path, text, shown: relative(current, path) }],
  );
}

/** @throws CliError before anything is written, when something is there that may not be replaced */
async function writeAll(outputs: readonly ImportOutput[], replace: boolean): Promise<void> {
  if (!replace)
    for (const { path, shown } of outputs)
      if (await outputExists(path)) throw usageError(`Cannot write "${shown}": it is there; --force overwrites it`);
  for (const { path, shown, text } of outputs)
    await writeOutput(path, text, replace).catch((err: unknown) => {
      throw usageError(`Cannot write "${shown}": ${pathState(err)}`);
    });
}

function judge({ project, manifests, rows }: ImportResult, strict: boolean, args: readonly string[]): void {
  const names = args.map((each) => `"${each}"`).join(", ");
  if (project === undefined && manifests === undefined)
    throw new CliError(exitCode.failed, `Cannot import ${names}: Weir has nothing of what is in it`);
  const refused = rows.filter(({ result }) => result === "not supported").length;
  if (strict && refused > 0)
    throw new CliError(exitCode.failed, `Cannot import all of ${names}: fields that are not supported: ${refused}`);
}
