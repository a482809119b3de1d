import { readFile } from "node:fs/promises";

/** Content that may change while the process runs. */
export interface FileSource {
  current(): Promise<string>;
  /** The content was refused: the next `current` reads it again at once. */
  refused(): void;
}

/** The bearer token to send. */
export type TokenSource = FileSource;

/** Milliseconds. Files of service accounts are rewritten long before the old content is refused. */
const readAgainAfter = 60_000;

/** A token that never changes. */
export function fixedToken(token: string): TokenSource {
  return { current: () => Promise.resolve(token), refused: () => {} };
}

/**
 * The token in a file, read again each minute and after a refusal; the last one while the file cannot be read.
 * @throws Error when it cannot be read now, or is empty
 */
export function readTokenFile(path: string, now: () => number = Date.now): Promise<TokenSource> {
  return readFileAgain(path, readToken, now);
}

/**
 * The certificates in a file (PEM), read again in the same way; while an authority is replaced, the file holds both.
 * @throws Error when it cannot be read now, or holds none
 */
export function readCaFile(path: string, now: () => number = Date.now): Promise<FileSource> {
  return readFileAgain(path, readCertificates, now);
}

async function readFileAgain(
  path: string,
  read: (path: string) => Promise<string>,
  now: () => number,
): Promise<FileSource> {
  let content = await read(path);
  let readAt = now();
  let reading: Promise<void> | undefined;
  const readAgain = async (): Promise<void> => {
    content = await read(path).catch(() => content);
    readAt = now();
    reading = undefined;
  };
  return {
    current: async () => {
      // `abs`: a clock that was set back must not keep old content indefinitely.
      if (Math.abs(now() - readAt) >= readAgainAfter) await (reading ??= readAgain());
      return content;
    },
    refused: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

async function readToken(path: string): Promise<string> {
  const token = (await readFile(path, "utf8")).trim();
  // Anything else is not valid in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`file "${path}" holds no token`);
  return token;
}

async function readCertificates(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`file "${path}" holds no certificate`);
  return text;
}
