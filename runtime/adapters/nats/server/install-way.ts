import type { Environment } from "./run-command.ts";

/** What an installation needs to know. */
export interface InstallContext {
  readonly environment: Environment;
  /** Receives progress lines: what happens, and how long it may take. */
  readonly say: (line: string) => void;
}

/** A way to install the server: puts a verified file `nats-server` into `directory`, or says why it could not. */
export type InstallWay = (directory: string, context: InstallContext) => Promise<InstallOutcome>;

export type InstallOutcome =
  | { readonly kind: "installed" }
  /** The tool that this way needs is not installed. */
  | { readonly kind: "no-tool"; readonly because: string }
  | { readonly kind: "failed"; readonly because: string };
