import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { makeDirectoryDurably, writeFileDurably } from "../../../disk/durable-files.ts";

/** Passwords by user name. */
export type NatsPasswords = Readonly<Record<string, string>>;

const fileName = "users.json";
const passwordBytes = 24;

/**
 * The passwords kept in `directory` (created with mode 0700; the file has 0600), with new ones for users that have none
 * yet. Passwords of users that are no longer named are dropped.
 */
export async function readNatsPasswords(directory: string, users: readonly string[]): Promise<NatsPasswords> {
  await makeDirectoryDurably(directory);
  const file = join(directory, fileName);
  const kept = await readKept(file);
  const passwords = Object.fromEntries(users.map((user) => [user, kept.get(user) ?? newPassword()]));
  const changed = kept.size !== users.length || users.some((user) => !kept.has(user));
  if (changed) await writeFileDurably(file, `${JSON.stringify(passwords, undefined, 2)}\n`);
  return passwords;
}

async function readKept(file: string): Promise<Map<string, string>> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, "utf8"));
  } catch {
    // Missing or truncated: only this directory's server knows the passwords, so new ones are as good.
    return new Map();
  }
  if (typeof content !== "object" || content === null) return new Map();
  return new Map(Object.entries(content).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** 192 random bits, safe in a URL. */
function newPassword(): string {
  return randomBytes(passwordBytes).toString("base64url");
}
