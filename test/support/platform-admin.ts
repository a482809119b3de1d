import type { PlatformProcess } from "./platform-process.ts";

/** Sum of all samples of a metric of a process whose labels include `labels`; 0 if there is none. */
export async function metricOf(
  process: PlatformProcess,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  return sumOf(await (await admin(process, "/metrics")).text(), name, labels);
}

/** Status of a path of a process's admin port. */
export async function probeOf(process: PlatformProcess, path: string): Promise<number> {
  const response = await admin(process, path);
  await response.body?.cancel();
  return response.status;
}

/** The body of a process's `/readyz`. */
export async function readinessOf(process: PlatformProcess): Promise<string> {
  return (await admin(process, "/readyz")).text();
}

function admin(process: PlatformProcess, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${String(process.ready["adminPort"])}${path}`, {
    signal: AbortSignal.timeout(2_000),
    headers: { connection: "close" },
  });
}

/** Adds up samples in the Prometheus text format. */
function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const required = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .filter((line) => required.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
