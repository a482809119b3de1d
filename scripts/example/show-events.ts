/** Shows server-sent events as they arrive, each below the seconds since `start` (monotonic milliseconds). */
export async function showEvents(
  body: ReadableStream<Uint8Array>,
  start: number,
  show: (text: string) => void,
): Promise<void> {
  const elapsed = (): string => `# after ${((performance.now() - start) / 1_000).toFixed(2)} s\n`;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) show(`${elapsed()}${event}\n\n`);
  }
  if (rest !== "") show(`${elapsed()}${rest}\n`);
}
