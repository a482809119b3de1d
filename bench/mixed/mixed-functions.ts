import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { WeirProcess } from "../../test/support/weir-process.ts";

/** What a stream sends; `every` in milliseconds. */
export const stream = { path: "/stream", chunks: 100, chunkSize: 1_024, every: 100 } as const;

/** Replies with its version, or with a stream. It contains no single quotes, so it can be enclosed in them. */
const program = `require("node:http").createServer((q, r) => {
  q.resume();
  if (q.url !== "${stream.path}") return r.end(process.env.version);
  let left = ${stream.chunks};
  const timer = setInterval(() => {
    r.write("x".repeat(${stream.chunkSize}));
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    r.end();
  }, ${stream.every});
  r.on("close", () => clearInterval(timer));
}).listen(process.env.PORT, "127.0.0.1")`;

/** What administrators do with functions, over HTTP; each method rejects if the response is an error. */
export interface MixedFunctions {
  deploy(name: string, version: number): Promise<void>;
  remove(name: string): Promise<void>;
  /** Resolves once that many replicas are ready. */
  scale(name: string, replicas: number): Promise<void>;
  /** Resolves with the reply to a call, which may wait for a replica. */
  call(name: string): Promise<string>;
  /** Resolves once this version replies to calls. */
  serves(name: string, version: number): Promise<void>;
}

const timeout = 60_000;

/** Functions of a Weir that runs them as processes of this machine. */
export function mixedFunctions({ url, authorization }: WeirProcess): MixedFunctions {
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: path.startsWith("system/") ? { authorization } : {},
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /${path} answered ${response.status}: ${text.trim()}`);
    return text;
  };
  const call: MixedFunctions["call"] = (name) => ask("GET", `function/${name}`);
  return {
    deploy: async (name, version) => {
      const envVars = { mode: "http", version: String(version) };
      await ask("PUT", "system/functions", {
        service: name,
        image: "none",
        envProcess: `node -e '${program}'`,
        envVars,
      });
    },
    remove: async (name) => void (await ask("DELETE", "system/functions", { functionName: name })),
    scale: async (name, replicas) => {
      await ask("POST", `system/scale-function/${name}`, { replicas });
      await eventually(
        async () => {
          const status = JSON.parse(await ask("GET", `system/function/${name}`)) as FunctionStatus;
          // The autoscaler may have chosen another number meanwhile.
          return status.availableReplicas === replicas || status.availableReplicas === status.replicas;
        },
        { within: timeout, every: 100, what: `${replicas} replicas of ${name}` },
      );
    },
    call,
    serves: async (name, version) => {
      await eventually(async () => (await call(name)) === String(version), {
        within: timeout,
        every: 100,
        what: `version ${version} of ${name}`,
      });
    },
  };
}
