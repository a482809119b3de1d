import { join } from "node:path";

import type { Terminal } from "../terminal.ts";

/** Files of this program for one user, below `$XDG_CONFIG_HOME/weir` (XDG Base Directory Specification). */
export interface ConfigFiles {
  /** Mode 0700. */
  readonly directory: string;
  /** Contexts by name; no secrets. */
  readonly contexts: string;
  /** GatewayCredentials by address; mode 0600. */
  readonly credentials: string;
}

/** See {@link ConfigFiles}. */
export function configFiles({ environment, home }: Pick<Terminal, "environment" | "home">): ConfigFiles {
  const { XDG_CONFIG_HOME } = environment;
  // A relative one is invalid and ignored, as the specification says.
  const base = XDG_CONFIG_HOME?.startsWith("/") === true ? XDG_CONFIG_HOME : join(home, ".config");
  const directory = join(base, "weir");
  return { directory, contexts: join(directory, "contexts.yaml"), credentials: join(directory, "credentials.yaml") };
}
