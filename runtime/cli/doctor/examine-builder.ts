import type { Finding } from "../../api/schemas/doctor-report.ts";
import { chooseBuilder } from "../build/choose-builder.ts";
import { CliError } from "../cli-error.ts";
import type { Terminal } from "../terminal.ts";

/** Whether images can be built here; `orchestration` is that of `/system/info`, undefined if it is not known. */
export async function examineBuilder(
  { environment, signal }: Pick<Terminal, "environment" | "signal">,
  orchestration: string | undefined,
): Promise<Finding> {
  const finding = { id: "builder", subject: "image builder" } as const;
  if (orchestration === "process")
    return { ...finding, level: "ok", sentence: "None is needed: the gateway runs processes, not images" };
  try {
    const { title } = await chooseBuilder(undefined, "Cannot build images", { environment, signal });
    return { ...finding, level: "ok", sentence: `${title} answers` };
  } catch (err) {
    if (signal.aborted || !(err instanceof CliError)) throw err;
    return {
      ...finding,
      level: orchestration === undefined ? "warning" : "problem",
      sentence: err.message,
      advice: "install docker or podman, or start its engine",
    };
  }
}
