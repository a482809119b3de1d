const timeout = 1_000;

/** When a server of the broker started, by its monitoring: Unix milliseconds; undefined if it does not say. */
export async function readServerStart(monitorUrl: string | undefined): Promise<number | undefined> {
  if (monitorUrl === undefined) return undefined;
  try {
    const response = await fetch(new URL("/varz", monitorUrl), { signal: AbortSignal.timeout(timeout) });
    const { start } = (await response.json()) as { readonly start?: string };
    const time = Date.parse(start ?? "");
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}
