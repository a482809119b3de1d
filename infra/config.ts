import * as pulumi from "@pulumi/pulumi";

import { checkConfig, configNamespace, type StackConfig } from "./check-config.ts";

/**
 * What the stack's configuration says under `weir:`.
 * @throws RunError with every problem at once, each naming key, value and rule
 */
export function readConfig(): StackConfig {
  const prefix = `${configNamespace}:`;
  const all = Object.entries<string>(pulumi.runtime.allConfig());
  const own = all.filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]);
  const { config, problems } = checkConfig(Object.fromEntries(own));
  if (config === undefined)
    throw new pulumi.RunError(["Cannot read the configuration of the stack:", ...problems].join(`\n  ${prefix}`));
  return config;
}
