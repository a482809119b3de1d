import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "../../test/support/eventually.ts";
import { startWeir } from "../../test/support/weir-process.ts";
import { preciseNow } from "../../test/support/precise-now.ts";
import { coldProgram, type ColdReport, type ColdStart } from "./cold-pieces.ts";

/** A Weir with a function scaled to zero. */
export interface ColdWeir {
  /** Calls the function, then scales it to zero again. */
  start(): Promise<ColdStart>;
  close(): Promise<void>;
}

/** Starts Weir as `npm start` does, with functions as processes and its data in `directory`. */
export async function coldByWeir(directory: string): Promise<ColdWeir> {
  const weir = await startWeir({ data: directory, flags: ["--provider", "local"] });
  const system = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${weir.url}/system/${path}`, {
      method,
      headers: { authorization: weir.authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Cannot measure: ${method} /system/${path} answered ${await response.text()}`);
    return response;
  };
  const scaleToZero = async (): Promise<void> => {
    await (await system("POST", "scale-function/cold", { replicas: 0 })).body?.cancel();
    await eventually(
      async () => {
        const { conditions } = (await (await system("GET", "function/cold")).json()) as FunctionStatus;
        const reasons = new Set(conditions.map(({ reason }) => reason));
        return reasons.has("ScaledToZero") && reasons.has("Settled");
      },
      { within: 30_000, what: "a function at zero" },
    );
  };
  try {
    const envProcess = `node -e '${coldProgram}'`;
    const deployment = { service: "cold", image: "none", envProcess, envVars: { mode: "http" } };
    await (await system("POST", "functions", deployment)).body?.cancel();
    await scaleToZero();
  } catch (err) {
    await weir.close();
    throw err;
  }
  return {
    start: async () => {
      const called = preciseNow();
      const response = await fetch(`${weir.url}/function/cold`);
      if (!response.ok)
        throw new Error(`Cannot measure: the function answered ${response.status} ${await response.text()}`);
      const report = (await response.json()) as ColdReport;
      const answered = preciseNow();
      await scaleToZero();
      return { ...report, called, answered };
    },
    close: () => weir.close(),
  };
}
