import { createReadStream } from "node:fs";
import { resolve } from "node:path";

import { grammarRule, isSecretName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import type { OptionSpec } from "../../command-spec.ts";
import { namedErrorMessage } from "../../error-message.ts";

/** Where the value of a secret comes from; of files and literals every one that was given. */
export interface SecretValueOptions {
  readonly fromFile?: readonly string[];
  readonly fromLiteral?: readonly string[];
  readonly trim?: boolean;
  /** Standard input is a password then. */
  readonly passwordStdin?: boolean;
}

export const secretValueOptions: readonly OptionSpec[] = [
  { flags: "--from-file <file...>", about: "the value is the content of this file" },
  { flags: "--from-literal <value...>", about: "the value itself; it stays in the shell's history" },
  { flags: "--trim", about: "without one line break at its end" },
];

/** Most bytes of a secret (contract §2), and of one line break that is not a part of it. */
export const mostSecretBytes = 1024 * 1024;
const longestLineBreak = 2;

type Refuse = (reason: string) => never;

/**
 * The one value of a secret, byte for byte; `act` completes the sentence `Cannot <act> secret "…"`.
 * @throws CliError when there is none or more than one, and when it is empty or too long
 */
export async function readSecretValue(
  { terminal, output }: CommandContext,
  name: string,
  { fromFile: files = [], fromLiteral: literals = [], passwordStdin = false, trim = false }: SecretValueOptions,
  act: "create" | "update",
): Promise<Buffer> {
  const refuse: Refuse = (reason) => {
    throw usageError(`Cannot ${act} secret "${name}": ${reason}`);
  };
  if (!isSecretName(name)) refuse(`its name must be ${grammarRule.secret}`);
  const given = files.length + literals.length;
  if (given > 1 || (given === 0 && (terminal.isTerminal.stdin || passwordStdin)))
    refuse("give exactly one of --from-literal, --from-file or standard input");
  const [file] = files;
  const [literal] = literals;
  if (literal !== undefined)
    output.warn(
      "The value is in the shell's history and the list of processes; --from-file and standard input leave none",
    );
  const whole =
    literal === undefined
      ? await readAll(file === undefined ? terminal.stdin : createReadStream(resolve(terminal.directory, file)), refuse)
      : Buffer.from(literal);
  const value = trim ? withoutLineBreak(whole) : whole;
  if (value.byteLength === 0) refuse("its value is empty");
  if (value.byteLength > mostSecretBytes) refuse(tooLong);
  return value;
}

const tooLong = `its value has more than ${mostSecretBytes} bytes`;

async function readAll(stream: AsyncIterable<Buffer>, refuse: Refuse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > mostSecretBytes + longestLineBreak) break;
    }
  } catch (err) {
    refuse(namedErrorMessage(err));
  }
  return length > mostSecretBytes + longestLineBreak ? refuse(tooLong) : Buffer.concat(chunks);
}

function withoutLineBreak(value: Buffer): Buffer {
  if (value.at(-1) !== 0x0a) return value;
  return value.subarray(0, value.at(-2) === 0x0d ? -2 : -1);
}
