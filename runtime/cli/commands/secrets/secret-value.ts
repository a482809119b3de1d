import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { grammarRule, isSecretName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import type { OptionSpec } from "../../command-spec.ts";

/** Where the value of a secret comes from. */
export interface SecretValueOptions {
  readonly fromFile?: string;
  readonly fromLiteral?: string;
  readonly trim?: boolean;
}

export const secretValueOptions: readonly OptionSpec[] = [
  { flags: "--from-file <file>", about: "the value is the content of this file" },
  { flags: "--from-literal <value>", about: "the value itself; it stays in the shell's history" },
  { flags: "--trim", about: "without one line break at its end" },
];

/** Most bytes of a secret (contract §2). */
const mostBytes = 1024 * 1024;

/**
 * The one value of a secret, byte for byte.
 * @throws CliError when there is none or more than one, and when it is empty or too long
 */
export async function readSecretValue(
  { terminal, output }: CommandContext,
  name: string,
  { fromFile, fromLiteral, trim = false }: SecretValueOptions,
): Promise<Buffer> {
  const refuse = (reason: string): never => {
    throw usageError(`Cannot create secret "${name}": ${reason}`);
  };
  if (!isSecretName(name)) refuse(`its name must be ${grammarRule.secret}`);
  const piped = !terminal.isTerminal.stdin && fromFile === undefined && fromLiteral === undefined;
  if ([fromFile !== undefined, fromLiteral !== undefined, piped].filter(Boolean).length !== 1)
    refuse("give exactly one of --from-literal, --from-file or standard input");
  if (fromLiteral !== undefined)
    output.warn(
      "The value is in the shell's history and the list of processes; --from-file and standard input leave none",
    );
  const whole =
    fromLiteral !== undefined
      ? Buffer.from(fromLiteral)
      : fromFile !== undefined
        ? await readFile(resolve(terminal.directory, fromFile)).catch((err: Error) => refuse(err.message))
        : await readAll(terminal.stdin, refuse);
  const value = trim ? withoutLineBreak(whole) : whole;
  if (value.byteLength === 0) refuse("its value is empty");
  if (value.byteLength > mostBytes) refuse(`its value has ${value.byteLength} bytes, more than ${mostBytes}`);
  return value;
}

async function readAll(stream: AsyncIterable<Buffer>, refuse: (reason: string) => never): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > mostBytes) refuse(`its value has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function withoutLineBreak(value: Buffer): Buffer {
  if (value.at(-1) !== 0x0a) return value;
  return value.subarray(0, value.at(-2) === 0x0d ? -2 : -1);
}
