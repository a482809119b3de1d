/** The lines of a text that comes in portions, without the characters that end them; the last one may have none. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    rest += decoder.decode();
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The values of newline-delimited JSON; empty lines keep the connection alive. */
export async function* readJsonLines<Value>(response: Response): AsyncGenerator<Value> {
  if (response.body === null) return;
  for await (const line of readLines(response.body)) if (line.trim() !== "") yield JSON.parse(line) as Value;
}
