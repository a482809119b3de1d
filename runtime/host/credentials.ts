import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { credentialFile } from "../api/names.ts";
import { PlatformError } from "../api/platform-error.ts";
import { makeSigningKey } from "../api/iam/signing-keys.ts";
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
 * entropy and are safe in a URL.
 * @throws PlatformError when a file is empty
 */
export async function openCredentials(directory: string, now: number = Date.now()): Promise<HostCredentials> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await readOrMake(join(directory, credentialFile.callbackKey), () => makeSigningKey("callbacks"));
  await readOrMake(join(directory, credentialFile.issuerKey), () => makeSigningKey("tokens"));
  await readOrMake(join(directory, credentialFile.workloadKey), () => makeSigningKey("tokens"));
  await dropPreviousKeys(directory, now);
  return {
    user: await readOrMake(join(directory, credentialFile.user), () => generatedUser),
    password: await readOrMake(join(directory, credentialFile.password), () =>
      randomBytes(passwordBytes).toString("base64url"),
    ),
    invokeKey: await readOrMake(join(directory, credentialFile.invokeKey), () =>
      randomBytes(keyBytes).toString("base64url"),
    ),
  };
}

/**
 * The issuer of this machine's tokens: `publicUrl`, else the name that was made of `ownUrl` at the first start without
 * one, as another port must not end all tokens.
 * @throws PlatformError when the file is empty or holds no URL
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

async function readOrMake(file: string, make: () => string): Promise<string> {
  const kept = await readText(file);
  if (kept === undefined) await writeWhole(file, `${make()}\n`);
  const text = (kept ?? (await readText(file)) ?? "").trim();
  if (text !== "") return text;
  throw new PlatformError(
    "internal_error",
    `Cannot use credentials in "${file}": it is empty; write them there or remove it`,
  );
}

/** Creates the file with all of its content or not at all; a file that appears in the meantime is kept. */
async function writeWhole(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(fresh, text, { mode: 0o600 });
  try {
    await link(fresh, file);
  } catch (err) {
    if (!(err instanceof Error && "code" in err && err.code === "EEXIST")) throw err;
  } finally {
    await rm(fresh, { force: true });
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
