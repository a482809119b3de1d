import { readFile } from "node:fs/promises";

/** Gives the bearer token to send now. */
export interface TokenSource {
  current(): Promise<string>;
  /** The token was refused: the next `current` looks again at once. */
  refused(): void;
}

/** Tokens of service accounts are written anew long before they expire; so often is enough. Milliseconds. */
const readAgainAfter = 60_000;

/** A token that stays as it is. */
export function fixedToken(token: string): TokenSource {
  return { current: () => Promise.resolve(token), refused: () => {} };
}

/**
 * The token in a file, read again each minute and after a refusal; while the file cannot be read, the last one.
 * @throws Error when it cannot be read now, or is empty
 */
export async function readTokenFile(path: string, now: () => number = Date.now): Promise<TokenSource> {
  let token = await readToken(path);
  let readAt = now();
  let reading: Promise<void> | undefined;
  const readAgain = async (): Promise<void> => {
    token = await readToken(path).catch(() => token);
    readAt = now();
    reading = undefined;
  };
  return {
    current: async () => {
      // A clock that was put back must not keep an old token for ever.
      if (Math.abs(now() - readAt) >= readAgainAfter) await (reading ??= readAgain());
      return token;
    },
    refused: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

async function readToken(path: string): Promise<string> {
  const token = (await readFile(path, "utf8")).trim();
  // Anything else would be no header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`file "${path}" holds no token`);
  return token;
}
