import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { credentialFile } from "../../api/names.ts";
import type { CredentialFlags } from "../gateways/choose-credentials.ts";
import type { ChosenGateway } from "../gateways/choose-gateway.ts";
import { configFiles } from "../gateways/config-directory.ts";
import { findLocalWeir, listensAt } from "../gateways/local-weir.ts";
import type { Terminal } from "../terminal.ts";
import type { TlsFiles } from "../client/dispatcher.ts";
import type { SecretFile } from "./judge-client.ts";

/** The files with secrets that commands for this gateway read: those that exist. */
export async function secretFiles(
  { terminal, gateway }: { readonly terminal: Terminal; readonly gateway: ChosenGateway },
  flags: CredentialFlags,
  { keyFile }: TlsFiles,
): Promise<readonly SecretFile[]> {
  const { environment, directory, uid } = terminal;
  // Without users there are no modes.
  if (uid === undefined) return [];
  const local = await findLocalWeir(directory, uid);
  const paths = [
    configFiles(terminal).credentials,
    flags.passwordFile,
    flags.tokenFile,
    keyFile,
    ...(gateway.byProject ? [] : [environment["WEIR_PASSWORD_FILE"]]),
    ...(local !== undefined && listensAt(local, gateway.address)
      ? [join(local.directory, "credentials", credentialFile.password)]
      : []),
  ].flatMap((path) => (path === undefined || path === "" ? [] : [resolve(directory, path)]));
  const found = await Promise.all([...new Set(paths)].map(fileAt));
  return found.filter((file) => file !== undefined);
}

async function fileAt(path: string): Promise<SecretFile | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? { path, mode: found.mode & 0o777 } : undefined;
}
