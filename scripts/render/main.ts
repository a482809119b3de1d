import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Command, Option } from "commander";

import { configNamespace } from "../../infra/check-config.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { platformManifests } from "../../infra/manifests/platform-manifests.ts";
import { PlatformOptionsError, readPlatform } from "../../infra/manifests/read-platform.ts";
import { neededSecretNames, secretManifests, type SecretValues } from "../../infra/manifests/secrets.ts";
import { readSettingsFile } from "../../runtime/settings/settings-file.ts";
import { readConfigFile } from "../../runtime/process/settings.ts";
import { checkStackFile, readStackFile } from "../../infra/stack-file.ts";
import { committedDefinitions } from "./committed-definitions.ts";
import { freshSecrets } from "./fresh-secrets.ts";
import { manifestsText } from "./manifests-text.ts";

interface Options {
  readonly stack?: string;
  readonly settings?: string;
  readonly edition?: string;
  readonly platformNamespace?: string;
  readonly functionNamespace?: string;
  readonly image?: string;
  readonly natsImage?: string;
  readonly natsTls: boolean;
  readonly withSecrets?: boolean;
  readonly natsTlsDir?: string;
  readonly part?: readonly string[];
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = new Command("npm run --silent render --")
  .description(
    "Prints the objects of the platform for Kubernetes as YAML, in the order in which they are to be applied.",
  )
  .addOption(
    new Option("--stack <file>", "of Pulumi, e.g. Pulumi.pro.yaml: what pulumi up creates from it").conflicts(
      "settings",
    ),
  )
  .option("--settings <file>", "YAML with options of the platform and settings of its processes, in camelCase")
  .option("--edition <edition>", "instead of that in the file")
  .option("--platform-namespace <name>", "instead of that in the file")
  .option("--function-namespace <name>", "instead of that in the file")
  .option("--image <image>", "image of all processes")
  .option("--nats-image <image>", "image of the broker")
  .option("--no-nats-tls", "connections of the broker are not encrypted")
  .option("--with-secrets", "also the Secrets, with new values at each call")
  .option("--nats-tls-dir <directory>", "with tls.crt, tls.key and ca.crt, for the Secret nats-tls")
  .option("--part <part...>", "only these parts, e.g. access")
  .helpOption("--help", "show this")
  .action(async (options: Options) => {
    const { platform, installCrds, adminUser, historyDatabase } = given(options);
    const secrets =
      options.withSecrets === true
        ? secretManifests(platform, {
            ...freshSecrets(platform),
            adminUser,
            ...(typeof historyDatabase === "string" && { historyDatabase }),
            ...(await certificate(options.natsTlsDir)),
          })
        : [];
    const parts = platformManifests(platform, {
      definitions: installCrds ? await committedDefinitions() : [],
      secrets,
    });
    const unknown = (options.part ?? []).filter((wanted) => parts.every(({ name }) => name !== wanted));
    if (unknown.length > 0)
      throw new Error(`Cannot render "${unknown.join(", ")}": parts are ${parts.map(({ name }) => name).join(", ")}`);
    process.stdout.write(manifestsText(parts.filter(({ name }) => options.part?.includes(name) ?? true)));
    if (options.withSecrets !== true && options.part === undefined)
      say(`Secrets that must be there: ${neededSecretNames(platform).join(", ")}`);
  });

interface Rendered {
  readonly platform: Platform;
  readonly installCrds: boolean;
  readonly adminUser: string;
  /** Address of the history's database, as far as it can be read. */
  readonly historyDatabase: unknown;
}

/** The platform to render: from a stack, from a settings file, or from flags only. */
function given(options: Options): Rendered {
  const { stack, settings } = options;
  if (stack === undefined) {
    const file = settings === undefined ? {} : readSettingsFile(settings, readConfigFile);
    const { historyDatabase }: Readonly<Record<string, unknown>> = file;
    const platform = readPlatform(withFlags(file, options));
    return { platform, installCrds: true, adminUser: "admin", historyDatabase };
  }
  const { values, encrypted } = readStackFile(stack);
  const { config, problems } = checkStackFile({ values: withFlags(values, options), encrypted });
  if (config === undefined) throw new PlatformOptionsError(problems.map((each) => `${configNamespace}:${each}`));
  if (encrypted.length > 0)
    say(`Encrypted in the stack, and not read: ${encrypted.map((path) => `${configNamespace}:${path}`).join(", ")}`);
  return { ...config, historyDatabase: values["historyDatabase"] };
}

/** The values of the file, overridden by typed flags. */
function withFlags(file: Readonly<Record<string, unknown>>, options: Options): Readonly<Record<string, unknown>> {
  const group = (name: string, typed: Readonly<Record<string, unknown>>) => {
    const content = file[name] ?? {};
    const mapping = typeof content === "object" && !Array.isArray(content);
    return { [name]: mapping ? { ...content, ...defined(typed) } : content };
  };
  const { edition, platformNamespace, functionNamespace, image, natsImage, natsTls } = options;
  return {
    ...file,
    ...defined({ edition, platformNamespace, functionNamespace }),
    ...group("images", { weir: image, nats: natsImage }),
    ...group("nats", { tls: natsTls ? undefined : false }),
  };
}

async function certificate(directory: string | undefined): Promise<Pick<SecretValues, "natsTls">> {
  if (directory === undefined) return {};
  const read = (file: string) => readFile(join(directory, file), "utf8");
  return {
    natsTls: { certificate: await read("tls.crt"), key: await read("tls.key"), authority: await read("ca.crt") },
  };
}

function defined(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

try {
  await command.parseAsync();
} catch (err) {
  if (err instanceof PlatformOptionsError) for (const line of ["Cannot make the platform:", ...err.problems]) say(line);
  else say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
