import { execFile } from "node:child_process";

/** Variables for a child process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How a command ended; `code` is undefined when it could not be started, was killed or took too long. */
export interface CommandResult {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly environment: Environment;
  readonly directory?: string;
  /** Its standard input. */
  readonly input?: string;
  /** Milliseconds after which it is killed. */
  readonly timeout: number;
}

const outputLimit = 4 * 1_048_576;

/** Runs a command without a shell and waits for its end; never rejects. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(
      command,
      [...args],
      {
        env: { ...options.environment },
        timeout: options.timeout,
        killSignal: "SIGKILL",
        maxBuffer: outputLimit,
        ...(options.directory === undefined ? {} : { cwd: options.directory }),
      },
      (err, stdout, stderr) => {
        if (err === null) resolve({ code: 0, stdout, stderr });
        else
          resolve({ code: typeof err.code === "number" ? err.code : undefined, stdout, stderr: stderr || err.message });
      },
    );
    if (options.input === undefined) return;
    // The command may end before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input);
  });
}

/** The last line of a command's output, for an error sentence. */
export function lastComplaint(result: CommandResult): string {
  const lines = `${result.stdout}\n${result.stderr}`.split("\n").map((line) => line.trim());
  return lines.findLast((line) => line !== "") ?? "it printed nothing";
}
