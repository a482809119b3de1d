import type { CommandContext } from "./command-context.ts";

/** An option of a command, as `commander` reads it. */
export interface OptionSpec {
  /** As in `-f, --follow` or `--tail <lines>`; `--env <name=value...>` may be repeated. */
  readonly flags: string;
  /** One sentence without a full stop. */
  readonly about: string;
  readonly fallback?: string | boolean;
  readonly choices?: readonly string[];
}

export interface ArgumentSpec {
  /** As in `<name>`, `[name]`, `<name...>`. */
  readonly name: string;
  readonly about: string;
  /** What completion offers for it. */
  readonly completes?: CompletedNames;
  readonly choices?: readonly string[];
}

/** Names that completion knows where to find; those of calls in the history. */
export type CompletedNames = "function" | "namespace" | "secret" | "queue" | "context" | "call";

export interface ExampleSpec {
  /** A whole command line that works against a Weir with the sample functions. */
  readonly line: string;
  /** One sentence without a full stop. */
  readonly about: string;
}

/** Options that many commands share. */
export type OptionGroup =
  /** Which gateway, with what credentials, over which TLS. */
  | "gateway"
  | "namespace"
  /** `-o`, `-q`. */
  | "output"
  /** `--yes`. */
  | "confirm";

/** One command: what its help says, and what it does. */
export interface CommandSpec<Options extends object = Readonly<Record<string, unknown>>> {
  /** First paragraph of its help: one or two sentences. */
  readonly about: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly groups: readonly OptionGroup[];
  readonly examples: readonly ExampleSpec[];
  /** @throws CliError to end with another exit code than 0 */
  run(context: CommandContext, options: Options, args: readonly string[]): Promise<void>;
}

/** A word of the command line that is a command, or holds more of them. */
export interface CommandEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line in the list of commands. */
  readonly summary: string;
  readonly load?: () => Promise<CommandSpec<never>>;
  readonly commands?: readonly CommandEntry[];
}
