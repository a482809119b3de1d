import { CliError, usageError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { builderNames, builders, type Builder, type BuilderName } from "./builders.ts";
import { runChild, type ChildCommand, type ChildEnd } from "./run-child.ts";

/** Milliseconds until an engine that does not answer is left alone. */
const probeTimeout = 10_000;

type Probe = Pick<ChildCommand, "environment" | "signal">;

/**
 * `named`, else the first builder that answers.
 * @param failure beginning of the error sentence: `Cannot build "hello"`
 * @throws CliError exit code 2 when none does
 */
export async function chooseBuilder(named: BuilderName | undefined, failure: string, probe: Probe): Promise<Builder> {
  const reasons: string[] = [];
  for (const name of named === undefined ? builderNames : [named]) {
    const reason = await whyNot(builders[name], probe);
    if (reason === undefined) return builders[name];
    reasons.push(`${builders[name].title}: ${reason}`);
  }
  throw usageError(`${failure}: no engine answers (${reasons.join("; ")})`);
}

/** Why a builder cannot be used, in a few words; undefined if it answers. */
async function whyNot(
  { probe: [command, ...args] }: Builder,
  { environment, signal }: Probe,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(probeTimeout);
  try {
    return refusalIn(await runChild({ command, args, environment, signal: AbortSignal.any([signal, timeout]) }));
  } catch (err) {
    if (signal.aborted || !(err instanceof CliError) || err.exit !== exitCode.interrupted) throw err;
    return `no answer within ${probeTimeout / 1_000} s`;
  }
}

function refusalIn(end: ChildEnd): string | undefined {
  if (end.kind === "not-started") return end.reason;
  // `docker buildx inspect` ends with 0 also when its engine is away.
  const refused = end.lastLines.find((line) => line.startsWith("Error:"));
  if (end.code === 0 && refused === undefined) return undefined;
  return (
    refused?.replace(/^Error:\s*/, "") ??
    end.lastLines.find((line) => line.trim() !== "") ??
    `it ended with ${end.code}`
  );
}
