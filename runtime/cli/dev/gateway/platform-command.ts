import { delimiter, join } from "node:path";

import { platformPackage, type PlatformProgram } from "./find-platform.ts";

/** How a Weir is started for a project. */
export interface PlatformSettings {
  /** Its data directory, absolute. */
  readonly data: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Undefined: as at its first start, else docker if there is an engine. */
  readonly provider: "local" | undefined;
}

export interface PlatformCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The command line that starts a Weir. A checkout installs the packages that it lacks, but changes none that it has.
 * @param node the program that runs JavaScript
 */
export function platformCommand(
  program: PlatformProgram,
  { data, host, port, provider }: PlatformSettings,
  { environment, node }: Pick<PlatformCommand, "environment"> & { readonly node: string },
): PlatformCommand {
  const { directory, kind, installed } = program;
  const addresses = ["--host", host, "--port", String(port), "--admin-port", "0", "--console-port", "0"];
  const log = ["--log-level", "warn", "--log-format", "text"];
  const flags = ["--data", data, ...addresses, ...log, ...(provider === undefined ? [] : ["--provider", provider])];
  // Nothing in it needs the gateway's token of whoever develops.
  const { WEIR_TOKEN: _, ...given } = environment;
  // Calls of the last hour can be replayed to what was just saved, and each call is a line.
  const rest: PlatformCommand["environment"] = { history_bodies: "1h", access_log: "true", ...given };
  switch (kind) {
    case "package":
      return {
        command: node,
        args: [join(directory, `${platformPackage}.js`), ...flags],
        directory,
        environment: rest,
      };
    case "checkout": {
      // Node.js itself is among its packages.
      const path = [join(directory, "node_modules", ".bin"), rest["PATH"]].filter((each) => each !== undefined);
      const own = {
        NODE_COMPILE_CACHE: join("node_modules", ".cache", "compiled"),
        ...rest,
        PATH: path.join(delimiter),
      };
      const main = join("runtime", "host", "main.ts");
      const [command, ...args] = installed
        ? (["node", main] as const)
        : (["sh", join("scripts", "run"), "--production", main] as const);
      return { command, args: [...args, ...flags], directory, environment: own };
    }
    default:
      return kind satisfies never;
  }
}
