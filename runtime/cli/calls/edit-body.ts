import { spawn } from "node:child_process";
import { isUtf8 } from "node:buffer";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";

/** The editor of somebody who named none. */
const usualEditor = "vi";

/**
 * What a person makes of a body in their editor (VISUAL, EDITOR); `name` is that of the file that they see.
 * @throws CliError without a terminal, when the body is not text, and when the editor fails
 */
export async function editBody(
  { mayAsk, onClose, terminal }: Pick<CommandContext, "mayAsk" | "onClose" | "terminal">,
  body: Uint8Array,
  name: string,
): Promise<Uint8Array> {
  if (!mayAsk) throw usageError("Cannot edit the body: there is no terminal; give it with --data or --file");
  if (!isUtf8(body)) throw usageError("Cannot edit the body: it is not text; give it with --file");
  const directory = await mkdtemp(join(tmpdir(), "weir-edit-"));
  const remove = () => rm(directory, { recursive: true, force: true });
  // It holds what somebody sent: it goes even if the command is interrupted.
  onClose(remove);
  const file = join(directory, name);
  await writeFile(file, body, { mode: 0o600 });
  await runEditor(editorOf(terminal.environment), file, terminal.environment);
  const edited = await readFile(file);
  await remove();
  return edited;
}

function editorOf({ VISUAL = "", EDITOR = "" }: Readonly<Record<string, string | undefined>>): string {
  return [VISUAL, EDITOR].find((text) => text.trim() !== "") ?? usualEditor;
}

/** `editor` is a command line, as in `code --wait`. */
async function runEditor(
  editor: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { env, stdio: "inherit" });
  const code = await new Promise<number | Error>((end) => {
    child.once("error", end);
    child.once("exit", (ended, signal) => end(ended ?? (signal === null ? 1 : 128)));
  });
  if (code === 0) return;
  const why = code instanceof Error ? code.message : `it ended with ${code}`;
  throw new CliError(exitCode.failed, `Cannot edit the body with "${editor}": ${why}; nothing was sent`);
}
