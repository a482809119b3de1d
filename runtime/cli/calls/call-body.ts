import { open, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";

import { usageError, type CliError } from "../cli-error.ts";
import type { Terminal } from "../terminal.ts";
import { ReplayableInput } from "./replayable-input.ts";

/** Where the body of a call comes from. */
export interface GivenBody {
  /** `--data`. */
  readonly data: string | undefined;
  /** `--file`; `-` is standard input. */
  readonly file: string | undefined;
  /** Whether standard input is the body if nothing else is. */
  readonly byInput: boolean;
}

/** The body of a call, which may have to be sent again. */
export interface OpenedBody {
  /**
   * The body from its start; `length` in bytes where it must be said and the body does not know it.
   * @throws CliError when it can be read only once and is too long to be kept
   */
  open(): { readonly body?: Uint8Array | Readable; readonly length?: number };
  /** It will not be opened again. */
  release(): void;
  /** Why it could not be read, if it could not. */
  failure(): CliError | undefined;
  close(): Promise<void>;
}

/**
 * Longest input that is read to its end before it is sent, bytes: many functions need `Content-Length`. A longer one is
 * sent as it is read.
 */
const longestRead = 1024 * 1024;
/** Bytes of a longer input that are kept to be sent again; a gateway replies long before it has taken so many. */
const longestKept = 16 * 1024 * 1024;
/** Bytes that are read of a file at once. */
const readSize = 65_536;

/**
 * Opens the one body that was given; there may be none.
 * @throws CliError when there are two, or when it cannot be read
 */
export async function openCallBody(
  { stdin, isTerminal, directory }: Terminal,
  { data, file, byInput }: GivenBody,
): Promise<OpenedBody> {
  if (data !== undefined && file !== undefined)
    throw usageError("Cannot choose the body: give one of --data and --file");
  if (data !== undefined) return fixedBody(Buffer.from(data));
  if (file === "-" && isTerminal.stdin)
    throw usageError("Cannot read standard input: it is a terminal; use --data, or --file with a file");
  if (file === "-" || (file === undefined && byInput && !isTerminal.stdin))
    return inputBody(stdin, "standard input", async () => void stdin.destroy());
  return file === undefined ? fixedBody(undefined) : fileBody(resolve(directory, file));
}

/** A body that is there already; it is empty if it is undefined. */
export function fixedBody(body: Uint8Array | undefined): OpenedBody {
  return {
    open: () => (body === undefined ? {} : { body }),
    release: () => {},
    failure: () => undefined,
    close: async () => {},
  };
}

async function inputBody(source: Readable, name: string, close: () => Promise<void>): Promise<OpenedBody> {
  const input = new ReplayableInput(source, name, longestKept);
  try {
    const whole = await input.readAhead(longestRead);
    if (whole === undefined)
      return {
        open: () => ({ body: input.open() }),
        release: () => input.release(),
        failure: () => input.failure,
        close,
      };
    await close();
    return fixedBody(whole);
  } catch (err) {
    await close();
    throw err;
  }
}

async function fileBody(path: string): Promise<OpenedBody> {
  const refuse = (reason: string): never => {
    throw usageError(`Cannot read "${path}" of --file: ${reason}`);
  };
  const file: FileHandle = await open(path).catch((cause: Error) => refuse(cause.message));
  const close = async (): Promise<void> => file.close();
  const found = await file.stat();
  if (found.isDirectory()) {
    await close();
    return refuse("it is a directory");
  }
  const { size } = found;
  // Pipes have no length, and files of /proc do not say theirs.
  if (!found.isFile() || size === 0) return inputBody(file.createReadStream({ autoClose: false }), `"${path}"`, close);
  return {
    open: () => ({ body: Readable.from(contentOf(file, size), { objectMode: false }), length: size }),
    release: () => {},
    failure: () => undefined,
    close,
  };
}

/** The first `size` bytes. A stream of the file itself would close it when a request is given up. */
async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readSize), 0, Math.min(readSize, size - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
