/** The objects of a body that has one in each line. */
export function recordsIn<Found>(body: string | undefined): Found[] {
  const lines = (body ?? "").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Found);
}

/** Name and data of the first event of a stream, which has no end. */
export async function firstEvent(stream: Response["body"] | undefined): Promise<readonly [string, string]> {
  const decoder = new TextDecoder();
  let text = "";
  // To leave the loop ends the stream.
  for await (const chunk of stream ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const [, name, data] = /^event: (.*)\ndata: (.*)\n\n/.exec(text) ?? [];
    if (name !== undefined && data !== undefined) return [name, data];
  }
  throw new Error(`The stream ended after "${text}"`);
}
