import { createPrivateKey, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { credentialFile } from "../api/names.ts";
import { PlatformError } from "../api/platform-error.ts";
import { makeSigningKey, type SigningKeyUse } from "../api/iam/signing-keys.ts";
import { holdsNothing, makeDirectoryDurably, writeFileDurably } from "../disk/durable-files.ts";
import { dropPreviousKeys } from "./signing-keys.ts";

/** The credentials of the administrator, and the key that function tokens are signed with. */
export interface HostCredentials {
  readonly user: string;
  readonly password: string;
  readonly invokeKey: string;
}

/** Name of a generated administrator. */
export const generatedUser = "admin";

const passwordBytes = 24;
const keyBytes = 32;

/**
 * Reads the credentials in `directory` (mode 0700, files 0600) and generates missing ones, the keys that callbacks and
 * tokens are signed with among them, as there is no default password. Generated secrets have at least 192 bits of
 * entropy and are safe in a URL. `onReplaced` gets the path of each file that held nothing, e.g. after a power cut, and
 * was generated again.
 * @throws PlatformError when a file is no key
 */
export async function openCredentials(
  directory: string,
  now: number = Date.now(),
  onReplaced: (file: string) => void = () => {},
): Promise<HostCredentials> {
  await makeDirectoryDurably(directory);
  const open = (name: string, make: () => string) => readOrMake(join(directory, name), make, onReplaced);
  const openKey = async (name: string, use: SigningKeyUse): Promise<void> =>
    checkKey(join(directory, name), await open(name, () => makeSigningKey(use)));
  await openKey(credentialFile.callbackKey, "callbacks");
  await openKey(credentialFile.issuerKey, "tokens");
  await openKey(credentialFile.workloadKey, "tokens");
  await dropPreviousKeys(directory, now);
  return {
    user: await open(credentialFile.user, () => generatedUser),
    password: await open(credentialFile.password, () => randomBytes(passwordBytes).toString("base64url")),
    invokeKey: await open(credentialFile.invokeKey, () => randomBytes(keyBytes).toString("base64url")),
  };
}

/**
 * The issuer of this machine's tokens: `publicUrl`, else the name that was made of `ownUrl` at the first start without
 * one, as another port must not end all tokens.
 * @throws PlatformError when the file holds no URL
 */
export async function openIssuerName(
  directory: string,
  { publicUrl, ownUrl }: { readonly publicUrl: string | undefined; readonly ownUrl: string },
): Promise<string> {
  if (publicUrl !== undefined) return publicUrl;
  const file = join(directory, credentialFile.issuer);
  const issuer = await readOrMake(file, () => ownUrl);
  if (URL.canParse(issuer)) return issuer;
  throw new PlatformError(
    "internal_error",
    `Cannot use the issuer name in "${file}": it is no URL; write one there or remove the file`,
  );
}

function checkKey(file: string, text: string): void {
  try {
    createPrivateKey(text);
  } catch (cause) {
    throw new PlatformError(
      "internal_error",
      `Cannot use the key in "${file}": it is no private key; restore it from a backup, or remove it to generate a new one`,
      { cause },
    );
  }
}

async function readOrMake(
  file: string,
  make: () => string,
  onReplaced: (file: string) => void = () => {},
): Promise<string> {
  const kept = await readText(file);
  if (kept !== undefined && !holdsNothing(kept)) return kept.trim();
  const made = make();
  if (kept !== undefined) {
    await writeFileDurably(file, `${made}\n`);
    onReplaced(file);
    return made;
  }
  try {
    await writeFileDurably(file, `${made}\n`, { replace: false });
    return made;
  } catch (err) {
    // Another Weir that starts now was faster: both use its file.
    if (err instanceof Error && "code" in err && err.code === "EEXIST") return ((await readText(file)) ?? "").trim();
    throw err;
  }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
    throw err;
  }
}
