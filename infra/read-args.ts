import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../runtime/settings/mapping.ts";
import { checkConfig, type StackConfig } from "./check-config.ts";
import type { CredentialsArgs } from "./components/credentials.ts";
import { isLater, openTexts, type OpenTexts } from "./open-texts.ts";
import type { WeirPlatformArgs } from "./weir-platform-args.ts";

/** Arguments of a platform, checked as far as they are known. */
export interface ReadArgs extends Omit<OpenTexts, "plain"> {
  readonly config: StackConfig;
  /** As they were given, including values that become known only later. */
  readonly given: Pick<
    CredentialsArgs,
    "adminPassword" | "historyDatabase" | "historyDatabaseAuthority" | "natsPasswords" | "natsTls" | "clientSecrets"
  >;
}

/**
 * Checks the arguments of a platform.
 * @throws RunError with every problem at once, each naming key, value and rule
 */
export function readArgs(name: string, args: WeirPlatformArgs): ReadArgs {
  const { awaitRollouts: _awaitRollouts, readSecret: _readSecret, ...keys } = args;
  const { plain, ...open } = openTexts(keys);
  const unread: string[] = [];
  const known = withoutLater(plain, unread);
  const { config, problems } = checkConfig(known, { unread });
  if (config === undefined) throw new pulumi.RunError([`Cannot make platform "${name}":`, ...problems].join("\n  "));
  const { adminPassword, historyDatabase, historyDatabaseAuthority } = args;
  const { natsPasswords = {}, natsTls = {}, iam: { clientSecrets = {} } = {} } = args;
  const database = { historyDatabase, historyDatabaseAuthority };
  return { ...open, config, given: { adminPassword, ...database, natsPasswords, natsTls, clientSecrets } };
}

/** The known values; the paths of the others are added to `later`. */
function withoutLater(
  values: Readonly<Record<string, unknown>>,
  later: string[],
  prefix = "",
): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (isLater(value)) later.push(prefix + key);
    else known[key] = isMapping(value) ? withoutLater(value, later, `${prefix}${key}.`) : value;
  }
  return known;
}
