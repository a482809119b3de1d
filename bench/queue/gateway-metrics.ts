/** Synchronous calls in flight at a gateway, including those that wait for a replica. */
export async function callsUnderWay(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const samples = text.matchAll(/^gateway_function_invocation_inflight\{[^}]*\} (\d+)/gm);
  return samples.reduce((sum, [, value]) => sum + Number(value), 0);
}
