import { freePort } from "../free-port.ts";
import { platformCalls, type PlatformCalls } from "../platform-calls.ts";
import { tempDirectory } from "../temp-directory.ts";
import { startWeir, type WeirProcess } from "../weir-process.ts";
import { buildConsoleOnce } from "./built-console.ts";

/** A Weir on one machine with its console. */
export interface ConsoleWeir extends AsyncDisposable {
  readonly weir: WeirProcess;
  /** Origin of the console. */
  readonly origin: string;
  readonly calls: PlatformCalls;
  /** Sends a request to the API as the administrator. */
  api(method: string, path: string, body?: unknown): Promise<Response>;
  /** Deploys a function and waits until it is ready. */
  deploy(deployment: { readonly service: string; readonly [field: string]: unknown }): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again with the same ports and data. */
  again(): Promise<void>;
}

export interface ConsoleWeirOptions {
  readonly flags?: readonly string[];
  /** Origins that the console is opened under instead of its own. */
  readonly origins?: readonly string[];
}

/** Starts one whose console listens on a port that stays the same. */
export async function openConsoleWeir({ flags = [], origins = [] }: ConsoleWeirOptions = {}): Promise<ConsoleWeir> {
  await buildConsoleOnce();
  const data = await tempDirectory("console");
  const [port, consolePort] = [await freePort(), await freePort()];
  const start = (): Promise<WeirProcess> =>
    startWeir({
      data: data.path,
      flags: [
        "--port",
        `${port}`,
        "--console-port",
        `${consolePort}`,
        ...origins.flatMap((origin) => ["--console-origins", origin]),
        ...flags,
      ],
    });
  let weir = await start().catch(async (err: unknown) => {
    await data.remove();
    throw err;
  });
  const api: ConsoleWeir["api"] = (method, path, body) =>
    fetch(`${weir.url}${path}`, {
      method,
      headers: { authorization: weir.authorization, accept: "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    get weir() {
      return weir;
    },
    origin: `http://127.0.0.1:${consolePort}`,
    get calls() {
      return platformCalls(weir.url, { authorization: weir.authorization });
    },
    api,
    async deploy(deployment) {
      const response = await api("PUT", "/system/functions?wait=60s", { image: "none", ...deployment });
      if (!response.ok) throw new Error(`Cannot deploy ${deployment.service}: ${await response.text()}`);
      await response.body?.cancel();
    },
    kill: () => weir.kill(),
    async again() {
      await weir.close();
      weir = await start();
    },
    async [Symbol.asyncDispose]() {
      await weir.close();
      await data.remove();
    },
  };
}
