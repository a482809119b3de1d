/** The whole body of a response; of a stream of events, which has no end, the first part. */
export async function textOfBody(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return await response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}
